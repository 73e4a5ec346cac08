"""A stream on its way, by itself."""

import asyncio
from typing import cast

from pointsman.gateway.answers import HELD_BYTES
from pointsman.gateway.reply import Reply
from pointsman.gateway.stream_answer import StreamAnswer
from pointsman.wire.http1.messages import RequestHead, ResponseHead
from pointsman.wire.openai.account import ChatAccount

ASKED = RequestHead(
    method=b"POST",
    target=b"/",
    path=b"/",
    fields={},
    keep_alive=True,
    modern=True,
    onward=b"",
    expects_continue=False,
)
ANSWERED = ResponseHead(200, b"HTTP/1.1 200 OK\r\n", {b"content-type": b"text/event-stream"}, True, False)


class Nobody:
    def first_token(self) -> None: ...

    def more_tokens(self, count: int) -> None: ...


def test_what_follows_an_early_error_is_not_kept() -> None:
    reply = Reply(cast(asyncio.WriteTransport, None), ASKED)
    answer = StreamAnswer(ANSWERED, reply, b"id", ChatAccount(), Nobody(), strip_usage=False)
    answer.take(b'data: {"error":{"message":"x","code":507}}\n\n')
    comment = b": %b\n\n" % (b"x" * 10_000)
    for _ in range(100):
        answer.take(comment)
    assert len(answer._held) < HELD_BYTES + len(comment)
    outcome = answer.end()
    assert (outcome.status, outcome.delivered) == (507, False)


class Written:
    def __init__(self) -> None:
        self.writes: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.writes.append(data)


def event(text: bytes) -> bytes:
    return b'data: {"choices":[{"index":0,"delta":{"content":"%b"},"finish_reason":null}]}\n\n' % text


def test_chunks_are_passed_on_as_they_came_when_they_are_known() -> None:
    transport = Written()
    account = ChatAccount()
    answer = StreamAnswer(
        ANSWERED, Reply(cast(asyncio.WriteTransport, transport), ASKED), b"id", account, Nobody(), strip_usage=False
    )
    framed = [b"%X\r\n%b\r\n" % (len(each), each) for each in map(event, (b"a", b"b", b"c", b"d" * 200))]
    starts = [each.index(b"\r\n") + 2 for each in framed]
    for each, start in zip(framed[:2], starts, strict=False):
        assert not answer.pass_on(each, start)
        answer.take(each[start:-2])
    assert [answer.pass_on(each, start) for each, start in zip(framed[2:], starts[2:], strict=True)] == [True, True]
    assert transport.writes[2:] == framed[2:]
    assert account.content_events == 4
    answer.take(b"data:")
    assert not answer.pass_on(framed[0], starts[0]), "it is the end of a torn event"
    assert len(transport.writes) == 4
