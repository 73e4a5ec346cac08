"""One field of a multipart form, found without parsing the files beside it."""

import re

_BOUNDARY = re.compile(rb'boundary=(?:"([^"]+)"|([^;\s]+))', re.IGNORECASE)


def form_field(content_type: bytes, body: bytes, name: bytes) -> str | None:
    """The text of the field `name` (RFC 7578), or None."""
    found = _BOUNDARY.search(content_type)
    if found is None:
        return None
    boundary = b"--" + (found[1] or found[2])
    named = re.compile(rb'(?:^|[;\s])name="?%b"?\s*(?:;|$)' % re.escape(name), re.IGNORECASE | re.MULTILINE)
    for part in body.split(boundary)[1:]:
        head, _, value = part.partition(b"\r\n\r\n")
        if named.search(head.replace(b"\r\n", b"\n")):
            return value.removesuffix(b"\r\n").decode(errors="replace").strip()
    return None
