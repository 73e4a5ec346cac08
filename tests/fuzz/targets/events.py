"""Event streams: no byte is lost, and what a stream says does not depend on how it was cut."""

import json
import re
from pathlib import Path

from tests.fuzz.pieces import cuts

from pointsman.wire.http1.framing import chunk
from pointsman.wire.openai.account import ChatAccount, StreamAccount, TypedAccount
from pointsman.wire.openai.shapes import Usage
from pointsman.wire.sse import EventCutter, event_data


def recorded(response: bytes) -> bytes:
    """The body of a recorded response in chunks."""
    rest = response.partition(b"\r\n\r\n")[2]
    return b"".join(re.split(rb"(?:^|\r\n)[0-9a-f]+\r\n", rest)).removesuffix(b"\r\n")


VLLM = Path(__file__).parents[2] / "fixtures" / "vllm"
SEEDS = [
    b'data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}\n\ndata: [DONE]\n\n',
    b'data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}\r\n\r\n: ping\r\n\r\n'
    b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}\r\n\r\n',
    b'data: {"choices":[{"index":0,"text":"a"}]}\n\ndata: {"choices":[],"usage":{"prompt_tokens":1}}\r\r'
    b"data:[DONE]\r\r",
    b'data: {"error":{"message":"x","code":500}}\n\n',
    b'event: delta\ndata: {"type":"x.delta",\ndata:"delta":"a"}\n\nevent: e\ndata: {"type":"message_stop"}\n\n',
    b'data: {"type":"response.completed","response":{"usage":{"input_tokens":3,"output_tokens":4}}}\n\n',
]
SEEDS += [recorded(path.read_bytes())[:1000] for path in sorted(VLLM.glob("*stream*.http"))]
WORDS = (
    b"data: ", b"data:", b"data", b"\n\n", b"\r\n\r\n", b"\r\r", b"\n", b"\r", b"[DONE]", b"event: ", b": ", b"id: 1\n",
    b'"finish_reason":null', b'"finish_reason":"stop"', b'"usage":null', b'"usage":{"prompt_tokens":7}', b'"error":{}',
    b'"choices":[', b'"index":1', b'"delta":{"content":"x"}', b'"text":"x"', b'"type":"response.failed"',
)  # fmt: skip

BEFORE, AFTER = b'data: {"choices":[{"index":0,"delta":{"content":"', b'"},"finish_reason":null}],"usage":null}\n\n'
_LINE_END = re.compile(rb"\r\n|\r|\n")


def check(data: bytes) -> None:
    data = data[:2000]
    for kind in (ChatAccount, TypedAccount):
        whole = seen([data], kind())
        for pieces in cuts(data):
            assert seen(pieces, kind()) == whole, pieces
        for event in [BEFORE + data + AFTER, *EventCutter().feed(data)]:
            check_ordinary(event, kind())
    check_short_cut(EventCutter().feed(data))


def check_ordinary(event: bytes, account: StreamAccount) -> None:
    """An event that need not be seen is one, and says nothing but that there is more; if it is JSON at all.

    Nor does it matter what came before it: here, in a chat's stream, an ordinary event.
    """
    account.likeness.passes(chunk(BEFORE + AFTER))
    if account.likeness.passes(chunk(event)):
        assert EventCutter().feed(event) == [event]
        account.content_events = 1
        assert not account.see(event)
        assert (account.done, account.error, account.usage) == (False, b"", Usage())
        assert not account.succeeded()
        assert account.content_events == 1 + (account.content_events > 1 or is_json(event))


def is_json(event: bytes) -> bool:
    try:
        json.loads(event_data(event))
    except ValueError:
        return False
    return True


def check_short_cut(events: list[bytes]) -> None:
    """Events that are not decoded say nothing but their text."""
    quickly, closely = ChatAccount(2), ChatAccount(2)
    for event in events:
        quickly.see(event)
        closely._see_closely(event, event_data(event))
    assert said(quickly) == said(closely)


def said(account: ChatAccount) -> tuple[object, ...]:
    return account.done, account.error, account.usage, account._finished


def seen(pieces: list[bytes], account: StreamAccount) -> tuple[object, ...]:
    """The data of all events that have some, and the account of them."""
    cutter = EventCutter()
    events = []
    for piece in pieces:
        for event in cutter.feed(piece):
            account.see(event)
            events.append(event)
    assert b"".join(events) + bytes(cutter.rest) == b"".join(pieces)
    assert all(events)
    for event in events:
        assert event_data(event) == plainly(event), event
    told = [data for event in events if (data := plainly(event))]
    return told, account.done, account.error, account.usage, account.content_events, account.succeeded()


def plainly(event: bytes) -> bytes:
    """The data of an event, read line by line as the standard says."""
    data = []
    for line in _LINE_END.split(event):
        field, colon, value = line.partition(b":")
        if field == b"data":
            data.append(value.removeprefix(b" ") if colon else b"")
    return b"\n".join(data)
