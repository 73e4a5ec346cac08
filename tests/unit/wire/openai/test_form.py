"""The model of a multipart form."""

from pointsman.wire.openai.form import form_field

BODY = (
    b'--b"x\r\nContent-Disposition: form-data; name="file"; filename="model"\r\n\r\nname="model"\r\n\r\nno\r\n'
    b'--b"x\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper\r\n--b"x--\r\n'
)


def test_found() -> None:
    assert form_field(b'multipart/form-data; boundary=b"x', BODY, b"model") == "whisper"
    assert (
        form_field(b'multipart/form-data; charset=x; boundary="b"', BODY.replace(b'b"x', b"b"), b"model") == "whisper"
    )


def test_missing() -> None:
    assert form_field(b'multipart/form-data; boundary=b"x', BODY, b"language") is None
    assert form_field(b"application/json", BODY, b"model") is None


def test_only_the_first_parts_are_looked_at() -> None:
    part = b'--b\r\ncontent-disposition: form-data; name="%b"\r\n\r\nx\r\n'
    kind = b"multipart/form-data; boundary=b"
    assert form_field(kind, part % b"other" * 50 + part % b"model" + b"--b--", b"model") == "x"
    assert form_field(kind, part % b"other" * 500 + part % b"model" + b"--b--", b"model") is None
    assert form_field(kind, part % b"model", b"model") is None  # without its end it is no part


def test_endless_headers_are_not_searched() -> None:
    part = b'--b\r\ncontent-disposition: form-data;%bname="model"\r\n\r\nm\r\n--b--'
    assert form_field(b"multipart/form-data; boundary=b", part % (b" " * 8_000), b"model") == "m"
    assert form_field(b"multipart/form-data; boundary=b", part % (b" " * 9_000), b"model") is None
