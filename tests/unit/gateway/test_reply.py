"""A response is framed as its client can take it."""

from typing import Any

import pytest

from pointsman.brain.model.errors import QueueFull, QueueTimeout, TooManyRequests
from pointsman.gateway.reply import Reply, error_lines
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


def last_words(error: bytes) -> bytes:
    return b"data: %b\n\n" % error


def promised() -> tuple[Reply, Any]:
    one, transport = reply()
    one.promise(LINES, last_words)
    one.comment(b"position=1")
    assert transport.writes == [LINES + b"transfer-encoding: chunked\r\n\r\n", b"e\r\n: position=1\n\n\r\n"]
    assert not one.started
    transport.writes.clear()
    return one, transport


def test_a_promised_stream_has_one_head() -> None:
    one, transport = promised()
    one.promise(LINES, last_words)
    one.start(b"HTTP/1.1 200 OK\r\nserver: node\r\n", None)
    assert one.between_chunks() is None
    one.write(b"abc")
    assert one.between_chunks() is transport
    one.end()
    assert transport.writes == [b"3\r\nabc\r\n", b"0\r\n\r\n"]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b'{"error":{"code":"x"}}', b'{"error":{"code":"x"}}'),
        (b'{"choices":[]}', b"something else than a stream"),
        (b"<html>", b"something else than a stream"),
        (b'["error"]', b"something else than a stream"),
    ],
)
def test_whatever_else_is_answered_after_a_promise_is_an_error_event(body: bytes, told: bytes) -> None:
    one, transport = promised()
    one.send(b"HTTP/1.1 400 Bad Request\r\n", body)
    assert transport.writes[-1] == b"0\r\n\r\n"
    sent = b"".join(transport.writes)
    assert told in sent
    assert b"HTTP/1.1" not in sent
    assert one.keep_alive


def test_a_refusal_after_a_promise_is_an_error_event() -> None:
    one, transport = promised()
    one.refuse(QueueTimeout("too long"), b"id")
    assert b'data: {"error":{"message":"too long"' in transport.writes[0]


def test_nothing_is_promised_where_an_answer_has_begun() -> None:
    one, transport = reply()
    one.start(LINES, None)
    one.write(b"a")
    one.gather()
    one.write(b"b")
    one.promise(LINES, last_words)
    one.comment(b"position=1")
    assert transport.writes[1:] == [b"1\r\nb\r\n", b"e\r\n: position=1\n\n\r\n"]
    assert not one.promised


def test_an_old_client_is_promised_a_stream_that_ends_with_its_connection() -> None:
    one, transport = reply(modern=False)
    one.promise(LINES, last_words)
    one.comment(b"position=1")
    assert transport.writes == [LINES + b"connection: close\r\n\r\n", b": position=1\n\n"]
    assert not one.keep_alive


@pytest.mark.parametrize(("seconds", "told"), [(0.2, 1), (1.0, 1), (1.4, 2), (29.01, 30)])
def test_who_comes_back_when_told_is_not_too_early(seconds: float, told: int) -> None:
    assert b"retry-after: %d\r\n" % told in error_lines(TooManyRequests("", retry_after_s=seconds))
    assert b"retry-after: 1\r\n" in error_lines(QueueFull(""))
