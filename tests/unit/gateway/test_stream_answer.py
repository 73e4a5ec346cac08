"""A stream on its way, by itself."""

import asyncio
from types import SimpleNamespace
from typing import cast

import pytest

from pointsman.gateway.answers import HELD_BYTES
from pointsman.gateway.reply import Reply
from pointsman.gateway.stream_answer import StreamAnswer
from pointsman.wire.http1.framing import chunk
from pointsman.wire.http1.messages import RequestHead, ResponseHead
from pointsman.wire.openai.account import ChatAccount


def asked(*, modern: bool = True) -> RequestHead:
    return RequestHead(
        method=b"POST", target=b"/", path=b"/", fields={}, keep_alive=True, modern=modern, onward=b"",
        expects_continue=False,
    )  # fmt: skip


ASKED = asked()
ANSWERED = ResponseHead(200, b"HTTP/1.1 200 OK\r\n", {b"content-type": b"text/event-stream"}, True, False)


class Nobody:
    def __init__(self) -> None:
        self.more = 0

    def first_token(self) -> None: ...

    def more_tokens(self, count: int) -> None:
        self.more += count


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


def begun(transport: Written, head: RequestHead = ASKED) -> StreamAnswer:
    """An answer of which the client has the first content."""
    reply = Reply(cast(asyncio.WriteTransport, transport), head)
    answer = StreamAnswer(ANSWERED, reply, b"id", ChatAccount(), Nobody(), strip_usage=False)
    assert answer.shortcut() is None
    answer.take(event(b"a"))
    return answer


def test_between_two_events_there_is_a_shortcut() -> None:
    transport = Written()
    answer = begun(transport)
    shortcut = answer.shortcut()
    assert shortcut is not None
    assert shortcut[0] is cast(object, transport)
    whole = event(b"b")
    assert shortcut[1].passes(chunk(whole))
    answer.take(whole[:-1])
    assert answer.shortcut() is None, "it is the end of a torn event"
    answer.take(whole[-1:])
    assert answer.shortcut() is not None
    answer.take(b"data: [DONE]\n\n")
    assert answer.shortcut() is None, "nothing should follow"


def test_a_client_that_gets_no_chunks_gets_none() -> None:
    assert begun(Written(), asked(modern=False)).shortcut() is None


def test_what_took_the_shortcut_is_told_with_the_rest() -> None:
    told: list[int] = []
    answer = begun(Written())
    answer._progress = cast(Nobody, SimpleNamespace(more_tokens=told.append))
    answer.passed(10)
    for _ in range(5):
        answer.take(event(b"c"))
    assert told == []
    answer.passed(3)
    assert told == [18]
    assert answer._account.content_events == 19


@pytest.mark.parametrize(("usage", "told"), [(b"", 2), (b',"usage":{"prompt_tokens":9,"completion_tokens":3}', 0)])
def test_what_was_not_told_yet_is_told_in_the_end_unless_the_engine_counted(usage: bytes, told: int) -> None:
    progress = Nobody()
    reply = Reply(cast(asyncio.WriteTransport, Written()), ASKED)
    answer = StreamAnswer(ANSWERED, reply, b"id", ChatAccount(), progress, strip_usage=False)
    for text in (b"a", b"b", b"c"):
        answer.take(event(text))
    answer.take(b'data: {"choices":[]%b}\n\n' % usage)
    assert progress.more == 0
    answer.tell_rest()
    answer.tell_rest()
    assert progress.more == told
