"""Responses are read the same however they are cut."""

import gc
import gzip
import weakref

import pytest
from tests.support.answers import BODY, BROKEN, ODD, SURPLUS

from pointsman.wire.http1.response import Garbage, ResponseHead, ResponseReader


class Sink:
    def __init__(self) -> None:
        self.heads: list[ResponseHead] = []

    def on_response_head(self, head: ResponseHead) -> None:
        self.heads.append(head)


def read(*pieces: bytes) -> tuple[list[ResponseHead], bytes, bool, bool]:
    sink = Sink()
    reader = ResponseReader(sink)
    body = b"".join([reader.feed(piece) for piece in pieces])
    return sink.heads, body, reader.complete, reader.reusable


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
    assert read(LENGTH)[0][0].length == 5
    assert read(CHUNKED)[0][0].length is None


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
        assert heads[0].length is None
        assert heads[0].headers == [(b"x", b"y"), (b"content-length", b"%d" % len(CODED))]


def test_a_coding_that_is_not_known_stays() -> None:
    heads, body, _, _ = read(GZIP.replace(b"gzip", b"br"))
    assert body == CODED
    assert heads[0].fields[b"content-encoding"] == b"br"
    assert heads[0].length == len(CODED)


def test_a_coded_body_that_is_cut_or_wrong_is_garbage() -> None:
    cut = GZIP.replace(b"Length: %d" % len(CODED), b"Length: %d" % (len(CODED) - 3))[:-3]
    for raw in (cut, GZIP[:-8] + b"        "):
        with pytest.raises(Garbage):
            read(raw)


def test_a_coded_body_until_close() -> None:
    reader = ResponseReader(Sink())
    assert reader.feed(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + CODED[:-1]) in (b"hello", b"hell")
    assert not reader.ends_with_connection()
    reader.feed(CODED[-1:])
    assert reader.ends_with_connection()
