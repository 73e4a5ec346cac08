"""What travels on and what does not."""

from pointsman.wire.http1.lines import HOP_BY_HOP, OURS_IN_REQUESTS, OURS_IN_RESPONSES, forwarded, status_line


def test_headers_named_in_connection_are_dropped() -> None:
    headers = [(b"a", b"1"), (b"connection", b"close, A ,b"), (b"b", b"2"), (b"c", b"3")]
    assert forwarded(headers, HOP_BY_HOP) == b"c: 3\r\n"


def test_private_headers_are_dropped() -> None:
    assert forwarded([(b"x-pointsman-node", b"n"), (b"x-other", b"o")], HOP_BY_HOP) == b"x-other: o\r\n"


def test_what_is_ours_is_dropped_and_repetition_kept() -> None:
    headers = [(b"x", b"1"), (b"cookie", b"c"), (b"host", b"evil"), (b"x", b"2")]
    assert forwarded(headers, OURS_IN_REQUESTS) == b"x: 1\r\nx: 2\r\n"
    assert forwarded([(b"server", b"uvicorn"), (b"a", b"1")], OURS_IN_RESPONSES) == b"a: 1\r\n"


def test_status_lines() -> None:
    assert status_line(200) == b"HTTP/1.1 200 OK\r\n"
    assert status_line(599) == b"HTTP/1.1 599 \r\n"
