"""Heads as they are written."""

import pytest

from pointsman.wire.http1.heads import own_lines, request_head, response_lines
from pointsman.wire.http1.messages import RequestHead, ResponseHead


def test_request_head() -> None:
    client = RequestHead(
        method=b"POST",
        target=b"/v1/x?q",
        path=b"/v1/x",
        fields={},
        onward=b"a: 1\r\n",
        keep_alive=True,
        modern=True,
        expects_continue=False,
    )
    assert request_head(client, b"/p", b"host: node\r\n", b"id", 2) == (
        b"POST /p/v1/x?q HTTP/1.1\r\nhost: node\r\naccept-encoding: identity\r\nx-request-id: id\r\n"
        b"content-length: 2\r\na: 1\r\n\r\n"
    )


@pytest.mark.parametrize(("streams", "own"), [(True, b"x-accel-buffering: no\r\n"), (False, b"")])
def test_response_lines(streams: bool, own: bytes) -> None:
    head = ResponseHead(200, b"HTTP/1.1 200 OK\r\nx-a: 1\r\n", {}, streams, False)
    assert response_lines(head, b"id") == b"HTTP/1.1 200 OK\r\nx-a: 1\r\nx-request-id: id\r\n" + own


def test_own_lines() -> None:
    assert own_lines(503, b"t/p", b"i", [(b"retry-after", b"1")]) == (
        b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: t/p\r\nx-request-id: i\r\nretry-after: 1\r\n"
    )
