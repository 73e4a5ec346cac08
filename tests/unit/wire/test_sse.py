"""A stream cut anywhere gives the same events, and never loses a byte."""

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.wire import sse
from pointsman.wire.sse import EventCutter, EventTooLarge, data_event, event_data

VLLM = Path(__file__).parents[2] / "fixtures" / "vllm"


def body_of(name: str) -> bytes:
    rest = (VLLM / f"{name}.http").read_bytes().partition(b"\r\n\r\n")[2]
    body = b""
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        body, rest = body + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
    return body


def events_of(*pieces: bytes) -> tuple[list[bytes], bytes]:
    cutter = EventCutter()
    events = [event for piece in pieces for event in cutter.feed(piece)]
    return events, bytes(cutter.rest)


RECORDED = body_of("chat_stream_usage")


def test_whole_stream() -> None:
    events, rest = events_of(RECORDED)
    assert b"".join(events) == RECORDED
    assert rest == b""
    assert event_data(events[-1]) == b"[DONE]"
    assert all(event_data(event).startswith(b"{") for event in events[:-1])


@pytest.mark.parametrize("name", ["chat_stream_usage", "completion_stream_n2", "messages_stream"])
def test_recorded_stream_cut_at_every_byte(name: str) -> None:
    stream = body_of(name)
    whole, _ = events_of(stream)
    for cut in range(len(stream)):
        assert events_of(stream[:cut], stream[cut:]) == (whole, b"")


def test_crlf_cut_at_every_byte_gives_whole_events() -> None:
    stream = RECORDED.replace(b"\n", b"\r\n")
    whole, _ = events_of(stream)
    assert len(whole) == len(events_of(RECORDED)[0])
    for cut in range(len(stream)):
        assert events_of(stream[:cut], stream[cut:]) == (whole, b"")


def test_byte_by_byte() -> None:
    whole, _ = events_of(RECORDED)
    assert events_of(*[RECORDED[i : i + 1] for i in range(len(RECORDED))]) == (whole, b"")


lines = st.sampled_from([b"data: {}", b"data:x", b"data: a: b", b": ping", b"event: e", b"id: 1", b"data"])
ends = st.sampled_from([b"\n", b"\r\n", b"\r"])


@st.composite
def streams(draw: st.DrawFn) -> tuple[bytes, list[bytes]]:
    """A stream with one kind of line end, and the data of its events."""
    end = draw(ends)
    events = draw(st.lists(st.lists(lines, min_size=1, max_size=3), max_size=5))
    data = [b"\n".join(_value(line) for line in event if line.startswith(b"data")) for event in events]
    return b"".join(end.join(event) + end + end for event in events), data


def _value(line: bytes) -> bytes:
    return line.partition(b":")[2].removeprefix(b" ")


@given(streams(), st.lists(st.integers(0, 200), max_size=8))
def test_any_cuts(stream: tuple[bytes, list[bytes]], cuts: list[int]) -> None:
    raw, data = stream
    points = [0, *sorted(min(cut, len(raw)) for cut in cuts), len(raw)]
    pieces = [raw[a:b] for a, b in itertools.pairwise(points) if a != b]
    events, rest = events_of(*pieces)
    assert b"".join(events) + rest == raw
    assert rest in (b"", b"\n")  # the LF of a last CRLF that was cut in two
    seen = [event_data(event) for event in events]
    assert [each for each in seen if each] == [each for each in data if each]


def test_unfinished_event_is_kept_back() -> None:
    assert events_of(b"data: 1\n\ndata: 2") == ([b"data: 1\n\n"], b"data: 2")


def test_multi_line_data_and_comments() -> None:
    assert event_data(b": c\ndata: a\ndata:b\nevent: x\n\n") == b"a\nb"
    assert event_data(b": ping\n\n") == b""


def test_endless_event(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "EVENT_LIMIT", 100)
    cutter = EventCutter()
    cutter.feed(b"data: " + b"x" * 90)
    with pytest.raises(EventTooLarge):
        cutter.feed(b"data: xxx")


def test_data_event_is_one_event() -> None:
    assert events_of(data_event(b"{}")) == ([b"data: {}\n\n"], b"")


def test_line_ends_too_many_begin_the_next_event() -> None:
    data = b"data: a\n\ndata: b\n\n\n"
    cutter = EventCutter()
    assert cutter.feed(data) == [b"data: a\n\n", b"data: b\n\n"]
    assert cutter.rest == b"\n"
