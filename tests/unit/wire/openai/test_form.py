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
