"""Writing heads: what of a head travels on, and what is ours to say.

A proxy drops hop-by-hop headers (RFC 9110, 7.6.1) and those named in `Connection`. Besides them a client's credentials
end here, control headers are ours, and bodies are asked for uncompressed, since their copy is read for accounting.
"""

from collections.abc import Iterable
from http import HTTPStatus

from pointsman.wire.http1.request import Headers, RequestHead
from pointsman.wire.http1.response import ResponseHead

HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-connection proxy-authenticate proxy-authorization te trailer transfer-encoding"
    b" upgrade http2-settings".split()
)
_OURS_IN_REQUESTS = HOP_BY_HOP | frozenset(
    b"host content-length expect accept-encoding authorization x-api-key api-key cookie x-request-id"
    b" x-request-timeout-ms x-data-parallel-rank forwarded x-forwarded-for x-forwarded-host x-forwarded-proto"
    b" x-real-ip".split()
)
_OURS_IN_RESPONSES = HOP_BY_HOP | frozenset(b"content-length x-request-id x-accel-buffering date server".split())
_PRIVATE = b"x-pointsman-"

_STATUS_LINES = {s.value: b"HTTP/1.1 %d %s\r\n" % (s.value, s.phrase.encode()) for s in HTTPStatus}


def status_line(status: int) -> bytes:
    """`HTTP/1.1 200 OK` with its line end; an unknown status gets an empty phrase."""
    return _STATUS_LINES.get(status) or b"HTTP/1.1 %d \r\n" % status


def forwarded(headers: Headers, ours: frozenset[bytes]) -> list[bytes]:
    """The header lines that travel on: not `ours`, not private, not named in `Connection`."""
    lines = []
    for name, value in headers:
        if name not in ours:
            if not name.startswith(_PRIVATE):
                lines.append(b"%b: %b\r\n" % (name, value))
        elif name == b"connection" and value.lower() not in (b"keep-alive", b"close"):
            return _without_named(headers, ours)
    return lines


def _without_named(headers: Headers, ours: frozenset[bytes]) -> list[bytes]:
    named = {option.strip().lower() for name, value in headers if name == b"connection" for option in value.split(b",")}
    kept = [(name, value) for name, value in headers if name not in named and name != b"connection"]
    return forwarded(kept, ours)


def request_head(client: RequestHead, prefix: bytes, node_lines: bytes, request_id: bytes, length: int) -> bytes:
    """The head sent to a node: the client's travelling headers under `node_lines` (Host, the node's key, its rank).

    `prefix` is the path of the node's base URL, without a slash at its end.
    """
    lines = forwarded(client.headers, _OURS_IN_REQUESTS)
    return b"%b %b%b HTTP/1.1\r\n%baccept-encoding: identity\r\nx-request-id: %b\r\ncontent-length: %d\r\n%b\r\n" % (
        client.method,
        prefix,
        client.target,
        node_lines,
        request_id,
        length,
        b"".join(lines),
    )


def simple_request(method: str, target: str, node_lines: bytes) -> bytes:
    """The head of a body-less request of our own, such as a probe."""
    return f"{method} {target} HTTP/1.1\r\n".encode() + node_lines + b"accept-encoding: identity\r\n\r\n"


def response_lines(head: ResponseHead, request_id: bytes) -> bytes:
    """The status line and headers of a node's response that travel to the client, without framing and last line."""
    lines = forwarded(head.headers, _OURS_IN_RESPONSES)
    buffering = b"x-accel-buffering: no\r\n" if head.is_event_stream else b""
    return b"%b%bx-request-id: %b\r\n%b" % (status_line(head.status), b"".join(lines), request_id, buffering)


def own_lines(status: int, content_type: bytes, request_id: bytes, extra: Iterable[tuple[bytes, bytes]] = ()) -> bytes:
    """The same for a response of our own."""
    lines = [status_line(status), b"content-type: %b\r\n" % content_type] if content_type else [status_line(status)]
    if request_id:
        lines.append(b"x-request-id: %b\r\n" % request_id)
    lines += [b"%b: %b\r\n" % pair for pair in extra]
    return b"".join(lines)
