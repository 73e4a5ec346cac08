"""Multipart forms: any bytes are looked at without harm, and a field that is there is found."""

from zlib import crc32

from pointsman.wire.openai.form import form_field

KIND = b"multipart/form-data; boundary=xYz"
SEEDS = [
    KIND + b'\n--xYz\r\nContent-Disposition: form-data; name="model"\r\n\r\nm\r\n--xYz--\r\n',
    b'multipart/form-data; boundary="a b"\n--a b\r\ncontent-disposition: form-data; name=file; filename="model"\r\n\r\n'
    b'x\r\n--a b\r\ncontent-disposition: form-data; name="model"\r\n\r\nm\r\n--a b--',
    b"file=a&b\nmodel=m&n",
]
WORDS = (b"\r\n--xYz", b"--", b"\r\n\r\n", b'name="model"', b"name=model", b"boundary=", b"content-disposition: ", b'"')


def check(data: bytes) -> None:
    kind, _, body = data.partition(b"\n")
    found = form_field(kind, body, b"model")
    assert found is None or isinstance(found, str)
    check_found(data)


def check_found(data: bytes) -> None:
    """Of a form whose fields are pieces of `data`, the last of which is the model, that one is found."""
    *values, model = data.split(b"&")[:20]
    boundary = b"b%x" % crc32(data)
    if b"--" + boundary in data:
        return
    part = b'--%b\r\nContent-Disposition: form-data; name="%b"\r\n\r\n%b\r\n'
    parts = [part % (boundary, b"f%d" % number, value) for number, value in enumerate(values)]
    form = b"".join(parts) + part % (boundary, b"model", model) + b"--%b--\r\n" % boundary
    found = form_field(b"multipart/form-data; boundary=" + boundary, form, b"model")
    assert found == model.decode(errors="replace").strip(), (form, found)
