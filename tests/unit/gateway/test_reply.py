"""A response is framed as its client can take it."""

from typing import Any

from pointsman.gateway.reply import Reply
from pointsman.wire.http1.messages import RequestHead


class Transport:
    def __init__(self) -> None:
        self.writes: list[bytes] = []
        self.aborted = False

    def write(self, data: bytes) -> None:
        self.writes.append(data)

    def abort(self) -> None:
        self.aborted = True


LINES = b"HTTP/1.1 200 OK\r\n"


def reply(method: bytes = b"POST", *, modern: bool = True, keep_alive: bool = True) -> tuple[Reply, Any]:
    head = RequestHead(
        method=method,
        target=b"/",
        path=b"/",
        fields={},
        keep_alive=keep_alive,
        modern=modern,
        onward=b"",
        expects_continue=False,
    )
    transport: Any = Transport()
    return Reply(transport, head), transport


def test_head_and_first_bytes_leave_together() -> None:
    one, transport = reply()
    one.start(LINES, None)
    assert not one.started
    one.write(b"abc")
    one.write(b"d")
    one.end()
    assert transport.writes == [
        LINES + b"transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n",
        b"1\r\nd\r\n",
        b"0\r\n\r\n",
    ]
    assert one.started


def test_chunks_may_be_written_as_they_are_behind_the_head_of_an_answer_in_chunks() -> None:
    one, transport = reply()
    one.start(LINES, None)
    assert one.between_chunks() is None
    one.write(b"x")
    assert id(one.between_chunks()) == id(transport)
    one.gather()
    one.write(b"y")
    assert one.between_chunks() is None
    old, _ = reply(modern=False)
    known, _ = reply()
    old.start(LINES, None)
    known.start(LINES, 10)
    for other in (old, known):
        other.write(b"x")
        assert other.between_chunks() is None


def test_the_last_bytes_leave_together() -> None:
    one, transport = reply()
    one.start(LINES, None)
    one.gather()
    one.write(b"abc")
    one.write(b"d")
    assert one.started
    assert transport.writes == []
    one.end()
    assert transport.writes == [LINES + b"transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n"]
    known, transport = reply()
    known.start(LINES, 3)
    known.gather()
    known.write(b"abc")
    known.end()
    assert transport.writes == [LINES + b"content-length: 3\r\n\r\nabc"]


def test_announced_length() -> None:
    one, transport = reply()
    one.send(LINES, b"abc")
    assert b"".join(transport.writes) == LINES + b"content-length: 3\r\n\r\nabc"


def test_empty_bodies() -> None:
    one, transport = reply()
    one.send(LINES, b"")
    assert transport.writes == [LINES + b"content-length: 0\r\n\r\n"]
    two, transport = reply()
    two.start(LINES, None)
    two.end()
    assert transport.writes == [LINES + b"transfer-encoding: chunked\r\n\r\n0\r\n\r\n"]
    three, transport = reply()
    three.start(LINES, None, bodiless=True)
    three.end()
    assert transport.writes == [LINES + b"\r\n"]


def test_head_request_gets_no_body() -> None:
    one, transport = reply(b"HEAD")
    one.send(LINES, b"abc")
    assert transport.writes == [LINES + b"content-length: 3\r\n\r\n"]


def test_old_clients_see_the_end_of_the_connection() -> None:
    one, transport = reply(modern=False)
    one.start(LINES, None)
    one.write(b"abc")
    one.end()
    assert transport.writes == [LINES + b"connection: close\r\n\r\nabc"]
    assert not one.keep_alive
    kept, transport = reply(modern=False)
    kept.send(LINES, b"x")
    assert b"connection: keep-alive\r\n" in transport.writes[0]


def test_breaking_off() -> None:
    one, transport = reply()
    one.break_off()
    assert transport.aborted
    assert not one.keep_alive
