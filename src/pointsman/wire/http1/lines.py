"""Header lines: which of a head's travel on through a proxy.

A proxy drops hop-by-hop headers (RFC 9110, 7.6.1) and those named in `Connection`. Besides them a client's credentials
end here, control headers are ours, and bodies are asked for uncompressed, since their copy is read for accounting.
"""

from http import HTTPStatus

Headers = list[tuple[bytes, bytes]]
"""In order, with repetitions, names in lower case."""

HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-connection proxy-authenticate proxy-authorization te trailer transfer-encoding"
    b" upgrade http2-settings".split()
)
OURS_IN_REQUESTS = HOP_BY_HOP | frozenset(
    b"host content-length expect accept-encoding authorization x-api-key api-key cookie x-request-id"
    b" x-request-timeout-ms x-data-parallel-rank".split()
)
OURS_IN_RESPONSES = HOP_BY_HOP | frozenset(b"content-length x-request-id x-accel-buffering date server".split())
PRIVATE = (b"x-pointsman-",)
"""What the names of headers begin with that do not travel on."""

_STATUS_LINES = {s.value: b"HTTP/1.1 %d %s\r\n" % (s.value, s.phrase.encode()) for s in HTTPStatus}


def status_line(status: int) -> bytes:
    """`HTTP/1.1 200 OK` with its line end; an unknown status gets an empty phrase."""
    return _STATUS_LINES.get(status) or b"HTTP/1.1 %d \r\n" % status


def forwarded(headers: Headers, ours: frozenset[bytes], private: tuple[bytes, ...] = PRIVATE) -> bytes:
    """The header lines that travel on: not `ours`, not `private`, not named in `Connection`."""
    lines = []
    for name, value in headers:
        if name not in ours:
            if not name.startswith(private):
                lines.append(b"%b: %b\r\n" % (name, value))
        elif name == b"connection" and value.lower() not in (b"keep-alive", b"close"):
            return _without_named(headers, ours, private)
    return b"".join(lines)


def _without_named(headers: Headers, ours: frozenset[bytes], private: tuple[bytes, ...]) -> bytes:
    named = {option.strip().lower() for name, value in headers if name == b"connection" for option in value.split(b",")}
    kept = [(name, value) for name, value in headers if name not in named and name != b"connection"]
    return forwarded(kept, ours, private)
