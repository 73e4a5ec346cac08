"""What is like an ordinary read is passed without a look, and is just as ordinary."""

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.support.text_events import CHAT, COMPLETION, DELTA, MESSAGE

from pointsman.wire.http1.framing import chunk
from pointsman.wire.openai.account import ChatAccount, StreamAccount, TypedAccount
from pointsman.wire.openai.likeness import Likeness
from pointsman.wire.openai.ordinary import is_choice_text
from pointsman.wire.sse import EventCutter


class Looked:
    """Looks into reads of choices, and counts them."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, read: bytes) -> bool:
        self.times += 1
        return is_choice_text(read)


@pytest.mark.parametrize("frame", [CHAT, COMPLETION])
def test_only_the_first_is_looked_into(frame: bytes) -> None:
    look = Looked()
    likeness = Likeness(look)
    for text in (b" tok", b"", b"\xc3\xa9", b"\\n", b"\\u00e9", b"\\\\x", b"usage", b"x" * 500, b" tok"):
        assert likeness.passes(chunk(frame % text))
    assert look.times == 1


@pytest.mark.parametrize(
    ("read", "passes"),
    [
        (chunk(CHAT % b"\\\\"), True),
        (chunk(CHAT % b'say \\"hi\\"'), True),
        (chunk((CHAT % b"b").replace(b'"x"', b'"y"')), True),
        (chunk(COMPLETION % b"b"), True),
        (chunk(CHAT % (b"x" * 2000)), True),
        (chunk((CHAT % b"b").replace(b"null", b'"stop"', 1)), False),
        (chunk((CHAT % b"b").replace(b'"usage":null', b'"usage":{}')), False),
        (chunk(CHAT % b'b"},"finish_reason":"stop"},{"delta":{"content":"'), False),
        (chunk(CHAT % b"b\n\ndata: c"), False),
        (chunk(CHAT % b"b\r"), False),
        (chunk(CHAT % b"b") + b"0\r\n\r\n", False),
        (chunk(CHAT % b"b")[:-1], False),
        (chunk(CHAT % b"b")[3:], False),
        (chunk(CHAT % b"bc").replace(b"bc", b"b"), False),
        (CHAT % b"b", False),
        *[((CHAT % (b"x" * (size - len(CHAT)))) + b"\r\n", False) for size in (262, 1024, 1500)],
        (b"", False),
    ],
)
def test_what_is_not_alike_is_looked_into(read: bytes, passes: bool) -> None:
    look = Looked()
    likeness = Likeness(look)
    assert likeness.passes(chunk(CHAT % b"a"))
    assert likeness.passes(read) is passes
    assert look.times == 2
    assert likeness.passes(chunk(CHAT % b"c"))


@pytest.mark.parametrize(("start", "end"), [(b"data:", b"\r\n\n"), (b"data:", b"\n\r\n"), (b"\ndata:", b"\n\n")])
def test_only_an_event_that_is_written_as_usual_teaches(start: bytes, end: bytes) -> None:
    account = ChatAccount()
    account.see(start + (CHAT % b"a")[6:-2] + end)
    assert account.content_events == 1
    assert not account.likeness.passes(chunk(start + (CHAT % b"b")[6:-2] + end))


def test_what_cannot_be_kept_is_looked_into_every_time() -> None:
    look = Looked()
    likeness = Likeness(look)
    for text in (b'\\"', b'\\"', b"x" * 2000, b"y" * 2000):
        assert likeness.passes(chunk(CHAT % text))
    assert look.times == 4


def test_a_time_that_changes_is_kept_anew() -> None:
    look = Looked()
    likeness = Likeness(look)
    for second in range(3):
        for _ in range(5):
            assert likeness.passes(chunk((CHAT % b"a").replace(b'"x"', b"%d" % second)))
    assert look.times == 3


inside = st.binary(max_size=8) | st.text(max_size=8).map(lambda text: msgspec.json.encode(text)[1:-1])


@given(st.lists(inside, min_size=1, max_size=8))
@example([b"a", b"\\", b"b"])
@example([b"a\\", b'"b', b"c"])
@example([b"a", b"b\n", b"c"])
@pytest.mark.parametrize(
    ("account", "frame"),
    [(ChatAccount, CHAT), (ChatAccount, COMPLETION), (TypedAccount, DELTA), (TypedAccount, MESSAGE)],
)
def test_whatever_came_before_what_passes_is_one_event_of_content(account, frame: bytes, insides: list[bytes]) -> None:
    likeness = account().likeness
    for text in insides:
        event = frame % text
        if not likeness.passes(chunk(event)):
            continue
        seen: StreamAccount = account()
        seen.content_events = 1
        assert EventCutter().feed(event) == [event]
        assert not seen.see(event)
        assert (seen.done, seen.error, seen.usage.completion) == (False, b"", 0)
