"""Responses are read the same however they are cut."""

import gc
import gzip
import weakref
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.answers import BODY, BROKEN, ODD, SURPLUS

from pointsman.wire.http1.framing import chunk_body
from pointsman.wire.http1.messages import ResponseHead
from pointsman.wire.http1.response import Garbage, ResponseReader


class Sink:
    def __init__(self) -> None:
        self.heads: list[ResponseHead] = []
        self.lengths: list[int | None] = []

    def on_response_head(self, head: ResponseHead, length: int | None) -> None:
        self.heads.append(head)
        self.lengths.append(length)


def read(*pieces: bytes) -> tuple[list[ResponseHead], bytes, bool, bool]:
    sink = Sink()
    reader = ResponseReader(sink)
    body = b"".join([reader.feed(piece) for piece in pieces])
    return sink.heads, body, reader.complete, reader.reusable


def lengths(raw: bytes) -> list[int | None]:
    sink = Sink()
    ResponseReader(sink).feed(raw)
    return sink.lengths


LENGTH = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n"
INTERIM = b"HTTP/1.1 100 Continue\r\nX: y\r\n\r\n" + LENGTH


@pytest.mark.parametrize("raw", [LENGTH, CHUNKED, INTERIM])
def test_cut_at_every_byte(raw: bytes) -> None:
    heads, body, complete, reusable = read(raw)
    assert (len(heads), body, complete, reusable) == (1, b"hello", True, True)
    assert b"x" not in heads[0].fields
    for cut in range(1, len(raw)):
        assert read(raw[:cut], raw[cut:]) == (heads, body, True, True)


def test_length_is_told_only_when_announced() -> None:
    assert lengths(LENGTH) == [5]
    assert lengths(CHUNKED) == lengths(GZIP) == [None]
    assert lengths(GZIP.replace(b"gzip", b"br")) == [len(CODED)]


def test_space_around_a_value_is_no_part_of_it() -> None:
    ((head,), *_) = read(LENGTH.replace(b"plain\r\n", b"plain \t\r\nX: \r\n"))
    assert (head.fields[b"content-type"], head.fields[b"x"]) == (b"text/plain", b"")


def test_until_close() -> None:
    sink = Sink()
    reader = ResponseReader(sink)
    assert reader.feed(b"HTTP/1.1 200 OK\r\n\r\nhello") == b"hello"
    assert not reader.complete
    assert not reader.reusable
    assert reader.ends_with_connection()


def test_close_is_honoured() -> None:
    assert read(LENGTH.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))[3] is False


def test_no_content() -> None:
    heads, body, complete, reusable = read(b"HTTP/1.1 204 No Content\r\n\r\n")
    assert (heads[0].status, body, complete, reusable) == (204, b"", True, True)


def test_reading_the_next_one() -> None:
    reader = ResponseReader(Sink())
    for _ in range(3):
        assert reader.feed(LENGTH) == b"hello"
        assert reader.complete
        reader.expect_response()


def outcome(reader: ResponseReader, sink: Sink, data: bytes) -> list[object]:
    sink.heads, sink.lengths = [], []
    try:
        said: object = reader.feed(data)
    except Garbage:
        return [sink.heads, sink.lengths, Garbage]
    return [sink.heads, sink.lengths, said, reader.complete, reader.reusable, reader.ends_with_connection()]


AGAIN = [
    LENGTH,
    LENGTH[:-1],
    LENGTH + b"x",
    LENGTH.replace(b"5\r\n\r\nhello", b"12\r\n\r\nhello again!"),
    LENGTH.replace(b" 5", b" -5"),
    LENGTH.replace(b" 5", b" 05"),
    LENGTH.replace(b" 5\r\n", b" 5\r\nConnection: close\r\n"),
    LENGTH.replace(b"200 OK", b"304 Not Modified"),
    CHUNKED,
    INTERIM,
]


@pytest.mark.parametrize("first", [LENGTH, INTERIM, LENGTH.replace(b"200 OK", b"304 Not Modified")[:-5], CHUNKED])
@pytest.mark.parametrize("again", AGAIN)
def test_a_head_that_comes_again_is_read_as_if_it_were_new(first: bytes, again: bytes) -> None:
    sink, fresh = Sink(), Sink()
    reader = ResponseReader(sink)
    reader.feed(first)
    assert reader.complete
    reader.expect_response()
    assert outcome(reader, sink, again) == outcome(ResponseReader(fresh), fresh, again)


def test_heads_that_come_again_are_one_value() -> None:
    sink = Sink()
    reader = ResponseReader(sink)
    for body in (b"hello", b"goodbye"):
        raw = LENGTH[:-10] + b"%d\r\n\r\n%b" % (len(body), body)
        assert reader.feed(raw) == body
        reader.expect_response()
    assert sink.heads[0] is sink.heads[1]
    assert sink.lengths == [5, 7]


def chunk_wise(*pieces: bytes) -> tuple[bytes, int, bool]:
    """The body, how many pieces needed no feeding, and whether it is complete."""
    reader = ResponseReader(Sink())
    body, seen = b"", 0
    for piece in pieces:
        start = chunk_body(piece) if reader.between_chunks else 0
        body += piece[start:-2] if start else reader.feed(piece)
        seen += start > 0
    return body, seen, reader.complete


HEAD = CHUNKED[: CHUNKED.index(b"3")]
PIECES = [b"3\r\nhel\r\n", b"003\r\n2\r\n\r\n", b"c;x=y\r\n1\r\na\r\n2\r\nb\r\n\r\n", b"0\r\nT: t\r\n\r\n"]


def test_whole_chunks_need_no_feeding() -> None:
    assert chunk_wise(HEAD, *PIECES) == (b"hel2\r\n1\r\na\r\n2\r\nb\r\n", 1, True)
    assert chunk_wise(HEAD, b"3\r\nhel\r\n", b"A\r\n1234567890\r\n", b"0\r\n\r\n") == (b"hel1234567890", 2, True)
    assert chunk_wise(HEAD[:-1], b"\n", b"3\r\nhel\r\n", b"0\r\n\r\n") == (b"hel", 0, True)


@given(st.lists(st.integers(1, len(HEAD) + sum(map(len, PIECES)) - 1), max_size=5))
def test_bytes_that_look_like_a_chunk_inside_one_are_fed(cuts: list[int]) -> None:
    raw = HEAD + b"".join(PIECES)
    ends = sorted({0, *cuts, len(raw)})
    body, _, complete = chunk_wise(*[raw[a:b] for a, b in pairwise(ends)])
    assert (body, complete) == (b"hel2\r\n1\r\na\r\n2\r\nb\r\n", True)


SWITCH = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"


@pytest.mark.parametrize("raw", [b"hello", LENGTH + LENGTH, b"HTTP/1.1 2x0 OK\r\n\r\n", b"SSH-2.0-OpenSSH\r\n", SWITCH])
def test_garbage(raw: bytes) -> None:
    with pytest.raises(Garbage):
        read(raw)


@pytest.mark.parametrize("raw", (BROKEN | SURPLUS).values(), ids=BROKEN | SURPLUS)
def test_what_could_be_read_in_two_ways_is_garbage(raw: bytes) -> None:
    drops = [raw[at : at + 1] for at in range(min(len(raw), 1000))]
    for pieces in ([raw], [*drops, raw[1000:]]):
        with pytest.raises(Garbage):
            read(*pieces)


@pytest.mark.parametrize("raw", ODD.values(), ids=ODD)
def test_what_is_odd_is_read(raw: bytes) -> None:
    whole = read(raw)
    assert (len(whole[0]), whole[1], whole[2]) == (1, BODY, True)
    assert read(*[raw[at : at + 1] for at in range(len(raw))]) == whole


@pytest.mark.parametrize("behind", [b"\x00\xff\x13", LENGTH])
@pytest.mark.parametrize("raw", [LENGTH, CHUNKED])
def test_a_complete_response_is_not_lost_to_what_follows_it(raw: bytes, behind: bytes) -> None:
    reader = ResponseReader(Sink())
    with pytest.raises(Garbage) as raised:
        reader.feed(raw + behind)
    assert (raised.value.body, reader.complete, reader.reusable) == (b"hello", True, False)


def test_endless_head() -> None:
    with pytest.raises(Garbage):
        read(b"HTTP/1.1 200 OK\r\nA: ", *[b"x" * 1024] * 100)


def test_a_closed_reader_keeps_nobody_alive() -> None:
    sink = Sink()
    sink.reader = ResponseReader(sink)  # type: ignore[attr-defined]
    sink.reader.feed(LENGTH)  # type: ignore[attr-defined]
    sink.reader.close()  # type: ignore[attr-defined]
    gone = weakref.ref(sink)
    gc.disable()
    try:
        del sink
        assert gone() is None
    finally:
        gc.enable()


CODED = gzip.compress(b"hello")
GZIP = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nX: y\r\nContent-Length: %d\r\n\r\n" % len(CODED) + CODED


def test_a_coding_nobody_asked_for_is_undone() -> None:
    for cut in range(len(GZIP)):
        heads, body, complete, reusable = read(GZIP[:cut], GZIP[cut:])
        assert (body, complete, reusable) == (b"hello", True, True)
        assert heads[0].lines == b"HTTP/1.1 200 OK\r\nx: y\r\n"


def test_a_coding_that_is_not_known_stays() -> None:
    heads, body, _, _ = read(GZIP.replace(b"gzip", b"br"))
    assert body == CODED
    assert heads[0].fields[b"content-encoding"] == b"br"


def test_a_coded_body_that_is_cut_or_wrong_is_garbage() -> None:
    cut = GZIP.replace(b"Length: %d" % len(CODED), b"Length: %d" % (len(CODED) - 3))[:-3]
    for raw in (cut, GZIP[:-8] + b"        "):
        reader = ResponseReader(Sink())
        with pytest.raises(Garbage):
            reader.feed(raw)
        assert not reader.complete


def test_a_coded_body_until_close() -> None:
    reader = ResponseReader(Sink())
    assert reader.feed(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + CODED[:-1]) in (b"hello", b"hell")
    assert not reader.ends_with_connection()
    reader.feed(CODED[-1:])
    assert reader.ends_with_connection()


def test_a_trailer_may_end_the_connection() -> None:
    assert read(CHUNKED[:-2] + b"A: b\r\n\r\n")[2:] == (True, True)
    assert read(CHUNKED[:-2] + b"Connection: close\r\n\r\n")[2:] == (True, False)
