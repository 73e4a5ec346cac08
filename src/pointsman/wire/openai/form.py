"""One field of a multipart form, found without parsing or copying the files beside it."""

import re

PARTS_LIMIT = 100
"""Parts of a form that are looked at; an audio request has about ten."""
PART_HEAD_LIMIT = 8 * 1024
"""Bytes of a part's headers; those of longer ones are not searched, which would take seconds."""
_BOUNDARY = re.compile(rb'boundary=(?:"([^"]+)"|([^;\s]+))', re.IGNORECASE)


def form_field(content_type: bytes, body: bytes, name: bytes) -> str | None:
    """The text of the field `name` (RFC 7578), or None if it is not among the first PARTS_LIMIT parts."""
    found = _BOUNDARY.search(content_type)
    if found is None:
        return None
    boundary = b"--" + (found[1] or found[2])
    named = re.compile(rb'(?:^|[;\s])name="?%b"?\s*(?:;|$)' % re.escape(name), re.IGNORECASE | re.MULTILINE)
    start = body.find(boundary)
    for _ in range(PARTS_LIMIT):
        if start < 0:
            break
        start += len(boundary)
        end = body.find(boundary, start)
        value = body.find(b"\r\n\r\n", start, min(max(start, end), start + PART_HEAD_LIMIT))
        if value >= 0 and named.search(body[start:value].replace(b"\r\n", b"\n")):
            return body[value + 4 : end].removesuffix(b"\r\n").decode(errors="replace").strip()
        start = end
    return None
