"""What travels on and what does not."""

from pointsman.wire.http1.heads import HOP_BY_HOP, forwarded, own_lines, request_head, response_lines, status_line
from pointsman.wire.http1.request import RequestHead
from pointsman.wire.http1.response import ResponseHead


def client(*headers: tuple[bytes, bytes]) -> RequestHead:
    return RequestHead(
        method=b"POST",
        target=b"/v1/x?q",
        path=b"/v1/x",
        headers=list(headers),
        fields=dict(headers),
        keep_alive=True,
        modern=True,
        content_length=2,
        expects_continue=False,
    )


def test_request_head() -> None:
    head = request_head(client((b"a", b"1"), (b"host", b"evil"), (b"cookie", b"c")), b"/p", b"host: node\r\n", b"id", 2)
    assert head == (
        b"POST /p/v1/x?q HTTP/1.1\r\nhost: node\r\naccept-encoding: identity\r\nx-request-id: id\r\n"
        b"content-length: 2\r\na: 1\r\n\r\n"
    )


def test_headers_named_in_connection_are_dropped() -> None:
    headers = [(b"a", b"1"), (b"connection", b"close, A ,b"), (b"b", b"2"), (b"c", b"3")]
    assert forwarded(headers, HOP_BY_HOP) == [b"c: 3\r\n"]


def test_private_headers_are_dropped() -> None:
    assert forwarded([(b"x-pointsman-node", b"n"), (b"x-other", b"o")], HOP_BY_HOP) == [b"x-other: o\r\n"]


def test_response_lines() -> None:
    headers = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"server", b"uvicorn"), (b"x-a", b"1")]
    head = ResponseHead(200, headers, dict(headers), None, True, False)
    lines = response_lines(head, b"id")
    assert lines.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"x-accel-buffering: no\r\n" in lines
    assert b"x-request-id: id\r\n" in lines
    assert b"uvicorn" not in lines


def test_own_lines() -> None:
    assert own_lines(503, b"t/p", b"i", [(b"retry-after", b"1")]) == (
        b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: t/p\r\nx-request-id: i\r\nretry-after: 1\r\n"
    )
    assert status_line(599) == b"HTTP/1.1 599 \r\n"
