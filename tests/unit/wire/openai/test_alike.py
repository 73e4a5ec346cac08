"""Events are known by sight only if they differ inside one text."""

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pointsman.wire.openai.account import ChatAccount
from pointsman.wire.sse import EventCutter

BEFORE = b'data: {"id":"x","choices":[{"index":0,"delta":{"content":"'
AFTER = b'"},"finish_reason":null}],"usage":null}\n\n'


def chunk(inside: bytes) -> bytes:
    return BEFORE + inside + AFTER


def taken(account: ChatAccount, data: bytes) -> bool:
    """Whether `data` is known by sight, wherever it stands."""
    amid = account.content_events
    known = account.again(b"x" + data + b"y", 1, 1 + len(data))
    account.content_events = amid
    assert account.again(data, 0, len(data)) == known
    return known


def seasoned(*inside: bytes) -> ChatAccount:
    account = ChatAccount()
    for each in inside or (b"first", b"second"):
        account.see(chunk(each))
    return account


@pytest.mark.parametrize("inside", [b" tok", b"\\n", b"\\u00e9", rb"say \"hi\"", b"\\\\", b"\xc3\xa9", b"usage"])
def test_any_text(inside: bytes) -> None:
    account = seasoned()
    assert taken(account, chunk(inside))
    assert account.content_events == 3


@pytest.mark.parametrize("inside", [b"a", b"a\\\\", rb"say \"hi\""])
def test_whatever_the_text_it_was_learned_from(inside: bytes) -> None:
    account = seasoned(b"first", inside)
    assert taken(account, chunk(b"third"))


@pytest.mark.parametrize(
    "data",
    [
        chunk(b""),
        chunk(b"\\"),
        chunk(b'"'),
        chunk(b'a","role":"b'),
        chunk(b'"},"finish_reason":"stop"}],"x":[{"y":{"z":"'),
        chunk(b"a\n\nb"),
        chunk(b"a\rb"),
        chunk(b"a") + chunk(b"b"),
        chunk(b"a")[:-1],
        chunk(b"a") + b"\n",
        chunk(b"a").replace(b"null", b'"stop"', 1),
        chunk(b"a").replace(b'"usage":null', b'"usage":{}'),
        BEFORE + AFTER[1:],
        b"",
    ],
)
def test_what_is_not_taken(data: bytes) -> None:
    account = seasoned()
    assert not taken(account, data)
    assert account.content_events == 2


def test_nothing_is_known_before_there_was_text() -> None:
    assert not taken(ChatAccount(), b"")
    assert not taken(ChatAccount(), chunk(b"a"))


def test_a_stream_whose_events_are_all_different_is_given_up() -> None:
    account = seasoned(*[b'%d"},"n":%d,"x":{"y":"' % (i, i) for i in range(20)], b"a", b"a")
    assert not taken(account, chunk(b"a"))


def test_now_and_then_an_event_that_is_not_alike() -> None:
    account = seasoned()
    for i in range(20):
        other = chunk(b'text"},"n":%d,"x":{"y":"' % i)
        assert not taken(account, other)
        account.see(other)
        assert not taken(account, chunk(b"a"))
        account.see(chunk(b"a"))
        assert taken(account, chunk(b"b"))


@given(st.binary(max_size=8) | st.text(max_size=8).map(lambda text: msgspec.json.encode(text)[1:-1]))
@example(b"\\u0022")
def test_what_is_taken_is_one_event_with_that_text(inside: bytes) -> None:
    account = seasoned()
    data = chunk(inside)
    if taken(account, data):
        assert EventCutter().feed(data) == [data]
        closely = seasoned()
        assert not closely.see(data)
        assert (account.content_events, account.usage, account.error, account.succeeded()) == (
            closely.content_events,
            closely.usage,
            closely.error,
            closely.succeeded(),
        )
