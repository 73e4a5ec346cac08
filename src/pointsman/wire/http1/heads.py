"""Writing heads: what of a head travels on (`lines.py`), and what is ours to say."""

from collections.abc import Iterable

from pointsman.wire.http1.lines import status_line
from pointsman.wire.http1.messages import RequestHead, ResponseHead


def request_head(client: RequestHead, prefix: bytes, node_lines: bytes, request_id: bytes, length: int) -> bytes:
    """The head sent to a node: the client's travelling headers under `node_lines` (Host, the node's key, its rank).

    `prefix` is the path of the node's base URL, without a slash at its end.
    """
    return b"%b %b%b HTTP/1.1\r\n%baccept-encoding: identity\r\nx-request-id: %b\r\ncontent-length: %d\r\n%b\r\n" % (
        client.method,
        prefix,
        client.target,
        node_lines,
        request_id,
        length,
        client.onward,
    )


def simple_request(method: str, target: str, node_lines: bytes) -> bytes:
    """The head of a request of our own, such as a probe; what is said of a body is in `node_lines`."""
    return f"{method} {target} HTTP/1.1\r\n".encode() + node_lines + b"accept-encoding: identity\r\n\r\n"


def response_lines(head: ResponseHead, request_id: bytes) -> bytes:
    """The status line and headers of a node's response that travel to the client, without framing and last line."""
    buffering = b"x-accel-buffering: no\r\n" if head.is_event_stream else b""
    return b"%bx-request-id: %b\r\n%b" % (head.lines, request_id, buffering)


def own_lines(status: int, content_type: bytes, request_id: bytes, extra: Iterable[tuple[bytes, bytes]] = ()) -> bytes:
    """The same for a response of our own."""
    lines = [status_line(status), b"content-type: %b\r\n" % content_type] if content_type else [status_line(status)]
    if request_id:
        lines.append(b"x-request-id: %b\r\n" % request_id)
    lines += [b"%b: %b\r\n" % pair for pair in extra]
    return b"".join(lines)
