"""What is ordinary would have been passed on as it is, and counted as one more event of content."""

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.support.text_events import CHAT, DELTA, MESSAGE

from pointsman.wire.http1.framing import chunk
from pointsman.wire.openai.account import ChatAccount, StreamAccount, TypedAccount
from pointsman.wire.openai.ordinary import is_choice_text, is_typed_text
from pointsman.wire.sse import EventCutter


def text(inside: bytes) -> bytes:
    return CHAT % inside


TEXTS = [b" tok", b"", b"\\n", b"\\u00e9", rb"say \"hi\"", rb"\"usage\":{} and \"error\"", b"\xc3\xa9", b"x" * 5000]


@pytest.mark.parametrize("inside", TEXTS)
def test_any_text(inside: bytes) -> None:
    assert is_choice_text(chunk(text(inside)))
    assert is_typed_text(chunk(DELTA % inside))
    assert is_typed_text(chunk(MESSAGE % inside))


def test_sizes_in_capitals_and_choices_without_usage() -> None:
    event = text(b"a" * 60).replace(b',"usage":null', b"")
    assert is_choice_text(b"%X\r\n%b\r\n" % (len(event), event))


@pytest.mark.parametrize(
    "event",
    [
        text(b'a","role":"b'),
        text(b"a\n\nb"),
        text(b"a\nb"),
        text(b"a\rb"),
        text(b"a") + text(b"b"),
        text(b"a")[:-1],
        text(b"a") + b"\n",
        text(b"a")[1:],
        text(b"a").replace(b"null", b'"stop"', 1),
        text(b"a").replace(b'"finish_reason":null', b'"finish_reason":null,"finish_reason":"stop"'),
        text(b"a").replace(b'"usage":null', b'"usage":{}'),
        text(b"a").replace(b'"usage":null', b'"usage":null,"usage":{}'),
        text(b"a").replace(b'"usage":null', b'"error":{}'),
        b"data: [DONE]\n\n",
        b": ping\n\n",
        DELTA % b"a",
    ],
)
def test_what_is_no_text_of_a_choice(event: bytes) -> None:
    if b'"role"' in event:  # as good as ordinary: it ends nothing
        assert is_choice_text(chunk(event))
    else:
        assert not is_choice_text(chunk(event))


@pytest.mark.parametrize(
    "event",
    [
        DELTA % b'a","usage":{"input_tokens":1},"b":"',
        DELTA % b'a","error":{},"b":"',
        DELTA % b'a","type":"response.completed","b":"',
        DELTA % b"a\nb",
        DELTA % b"a\n\nb",
        DELTA % b"a" + DELTA % b"b",
        (DELTA % b"a").replace(b"delta\n", b"delta.\n", 1),
        (DELTA % b"a").replace(b".delta", b".done"),
        (DELTA % b"a").replace(b"event: ", b"event:"),
        (DELTA % b"a").replace(b"\ndata: ", b"\n\ndata: "),
        (DELTA % b"a").replace(b"\ndata: ", b"\nid: 1\ndata: "),
        (DELTA % b"a").partition(b"\n")[2],
        text(b"a"),
    ],
)
def test_what_is_no_delta(event: bytes) -> None:
    assert not is_typed_text(chunk(event))


@pytest.mark.parametrize("of", [is_choice_text, is_typed_text])
def test_a_read_is_one_chunk(of) -> None:
    event = text(b"a") if of is is_choice_text else DELTA % b"a"
    for read in (event, b"0" + chunk(event), chunk(event)[:-1], chunk(event) * 2, chunk(event)[1:], b"", b"0\r\n\r\n"):
        assert not of(read)


@given(st.binary(max_size=8) | st.text(max_size=8).map(lambda text: msgspec.json.encode(text)[1:-1]))
@example(b"\\u0022")
@pytest.mark.parametrize(("account", "frame"), [(ChatAccount, text), (TypedAccount, lambda inside: DELTA % inside)])
def test_what_is_ordinary_is_one_event_of_content(account, frame, inside: bytes) -> None:
    event = frame(inside)
    seen: StreamAccount = account()
    seen.content_events = 1
    if seen.likeness.passes(chunk(event)):
        assert EventCutter().feed(event) == [event]
        assert not seen.see(event)
        assert (seen.done, seen.error, seen.usage.completion) == (False, b"", 0)
        assert not seen.succeeded()
