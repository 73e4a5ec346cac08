"""Requests are read the same however they are cut, and refused when they could be read in two ways."""

import contextlib
import gc
import tracemalloc
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.smuggling import AMBIGUOUS, CHAT, PATH, SECOND, UNUSUAL, by_length

from pointsman.brain.model.errors import BadRequest, BodyTooLarge, ClientError, HeadTooLarge
from pointsman.wire.http1.messages import HttpLimits, RequestHead
from pointsman.wire.http1.request import RequestReader


class Sink:
    def __init__(self) -> None:
        self.heads: list[RequestHead] = []
        self.lengths: list[int | None] = []
        self.requests: list[tuple[RequestHead, bytes]] = []

    def on_head(self, head: RequestHead, length: int | None) -> None:
        self.heads.append(head)
        self.lengths.append(length)

    def on_request(self, head: RequestHead, body: bytes) -> None:
        self.requests.append((head, body))


def read(*pieces: bytes, limits: HttpLimits | None = None) -> list[tuple[RequestHead, bytes]]:
    sink = Sink()
    reader = RequestReader(sink, limits or HttpLimits())
    for piece in pieces:
        reader.feed(piece)
    return sink.requests


HEAD = b"POST /v1/x?a=b HTTP/1.1\r\nHost: h\r\nX-Two: 1\r\nX-Two: 2\r\n"
PLAIN = HEAD + b"Content-Length: 5\r\n\r\nhello"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n3;x=y\r\nhel\r\n2\r\nlo\r\n0\r\nTrailer: t\r\n\r\n"


@pytest.mark.parametrize("raw", [PLAIN, CHUNKED, PLAIN + CHUNKED, CHUNKED + PLAIN])
def test_cut_at_every_byte(raw: bytes) -> None:
    whole = read(raw)
    assert all(body == b"hello" for _, body in whole)
    for cut in range(1, len(raw)):
        assert read(raw[:cut], raw[cut:]) == whole
    assert read(*[raw[i : i + 1] for i in range(len(raw))]) == whole


def test_what_a_head_says() -> None:
    ((head, _),) = read(PLAIN)
    assert (head.method, head.path, head.target) == (b"POST", b"/v1/x", b"/v1/x?a=b")
    assert head.onward == b"x-two: 1\r\nx-two: 2\r\n"
    assert head.fields == {b"host": b"h", b"x-two": b"2"}
    assert (head.keep_alive, head.modern) == (True, True)
    ((old, _),) = read(b"GET / HTTP/1.0\r\n\r\n")
    assert (old.keep_alive, old.modern) == (False, False)
    ((closing, _),) = read(b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    assert not closing.keep_alive


def test_space_around_a_value_is_no_part_of_it() -> None:
    ((head, body),) = read(b"POST / HTTP/1.1\r\nHost:h\t\r\nX-A: \t1 2 \t \r\nX-B:  \r\nContent-Length: 2 \r\n\r\nhi")
    assert (head.fields[b"host"], head.fields[b"x-a"], head.fields[b"x-b"]) == (b"h", b"1 2", b"")
    assert body == b"hi"


@pytest.mark.parametrize(
    "raw",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/2.0\r\nHost: a\r\n\r\n",
        b"CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n",
        b"POST / HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n0x2\r\nab\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n-2\r\nab\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n2 \r\nab\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\nab\n0\n\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n",
    ],
)
def test_refused(raw: bytes) -> None:
    with pytest.raises(BadRequest):
        read(raw)


LIMITS = HttpLimits(head=200, headers=5, body=10)


def sizes(limit: type[ClientError], *pieces: bytes) -> None:
    with pytest.raises(limit):
        read(*pieces, limits=LIMITS)


def test_oversize() -> None:
    big = b"x" * 300
    sizes(HeadTooLarge, b"GET /" + big + b" HTTP/1.1\r\nHost: h\r\n\r\n")
    sizes(HeadTooLarge, b"GET / HTTP/1.1\r\nHost: h\r\nA: " + big + b"\r\n\r\n")
    sizes(HeadTooLarge, b"GET / HTTP/1.1\r\nHost: h\r\nA: ", big)
    sizes(HeadTooLarge, b"GET / HTTP/1.1\r\nHost: h\r\nA: " + big)
    sizes(HeadTooLarge, b"GET / HTTP/1.1\r\nHost: h\r\nA: ", *[b"x"] * 300)
    sizes(HeadTooLarge, b"GET / HTTP/1.1\r\nHost: h\r\n" + b"A: b\r\n" * 5 + b"\r\n")
    sizes(BodyTooLarge, b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n\r\n")
    chunked = b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
    sizes(BodyTooLarge, chunked + b"5\r\nhello\r\n6\r\nworlds\r\n")
    sizes(BadRequest, chunked, b"1;" + big, big)
    sizes(BadRequest, chunked + b"0\r\nTrailer: ", *[big] * 3)


def test_a_body_in_single_byte_chunks_is_fine() -> None:
    raw = b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
    pieces = [b"1\r\nx\r\n"] * 5_000
    ((_, body),) = read(raw, *pieces, b"0\r\n\r\n")
    assert len(body) == 5_000


def outcome(*pieces: bytes) -> str | list[tuple[RequestHead, bytes]]:
    """What is read, or the name of the refusal if nothing is."""
    sink = Sink()
    reader = RequestReader(sink, HttpLimits())
    try:
        for piece in pieces:
            reader.feed(piece)
    except ClientError as error:
        assert not sink.requests
        return type(error).__name__
    return sink.requests


def drops(raw: bytes) -> list[bytes]:
    return [raw[i : i + 1] for i in range(len(raw))]


@pytest.mark.parametrize("raw", AMBIGUOUS.values(), ids=AMBIGUOUS)
def test_what_could_be_read_in_two_ways_is_refused(raw: bytes) -> None:
    assert outcome(raw + SECOND) == "BadRequest"
    pieces = [*drops((raw + SECOND)[:1000]), (raw + SECOND)[1000:]]
    assert outcome(*pieces) == "BadRequest"


@pytest.mark.parametrize("raw", UNUSUAL.values(), ids=UNUSUAL)
def test_what_is_valid_is_read_however_unusual(raw: bytes) -> None:
    both = raw + SECOND
    whole = outcome(both)
    assert [head.target.partition(b"?")[0] for head, _ in whole] == [PATH, PATH]  # type: ignore[union-attr]
    assert [body for _, body in whole] == [CHAT, CHAT]  # type: ignore[misc]
    assert outcome(*drops(both)) == whole
    for cut in range(1, len(raw) + 10):
        assert outcome(both[:cut], both[cut:]) == whole


@pytest.mark.parametrize(
    ("start", "target"),
    [
        (b"GET /a?b", b"/a?b"),
        (b"GET http://h/a?b", b"/a?b"),
        (b"GET HTTPS://h:1/", b"/"),
        (b"GET http://h", b"/"),
        (b"GET http://h?b", b"/?b"),
        (b"OPTIONS *", b"*"),
        (b"OPTIONS http://h", b"*"),
        (b"OPTIONS http://h/", b"/"),
        (b"OPTIONS http://h?b", b"/?b"),
    ],
)
def test_targets_are_in_origin_form(start: bytes, target: bytes) -> None:
    ((head, _),) = read(start + b" HTTP/1.1\r\nHost: h\r\n\r\n")
    assert (head.target, head.path) == (target, target.partition(b"?")[0])


def test_nothing_is_read_behind_a_request_that_closes() -> None:
    last = HEAD + b"Connection: close\r\nContent-Length: 5\r\n\r\nhello"
    for rest in (PLAIN, b"\0"):
        assert len(read(last + rest)) == len(read(last, rest)) == 1


def test_thousands_of_pipelined_offers_of_an_upgrade() -> None:
    offer = b"GET / HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n"
    assert len(read(offer * 4000)) == 4000


def test_an_upgrade_offer_does_not_keep_alive_what_shall_close() -> None:
    ((head, _),) = read(b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close, upgrade\r\nUpgrade: h2c\r\n\r\n")
    assert not head.keep_alive


def test_a_body_in_tiny_pieces_takes_no_more_room_than_it_has() -> None:
    reader = RequestReader(Sink(), HttpLimits())
    reader.feed(b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
    tracemalloc.start()
    try:
        for _ in range(10):
            reader.feed(b"2\r\nxy\r\n" * 1_000)
        assert tracemalloc.get_traced_memory()[0] < 3 * 20_000
    finally:
        tracemalloc.stop()


def test_empty_lines_in_a_chunk_end_nothing() -> None:
    body = b"\r\n\r\n0\r\n\r\n" * 50
    raw = b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    for cut in range(1, len(raw)):
        assert [found for _, found in read(raw[:cut], raw[cut:] + raw)] == [body, body]


def test_long_pipeline_is_not_one_long_head() -> None:
    small = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"
    assert len(read(small * 50 + small[:10], small[10:], limits=LIMITS)) == 51


def test_an_upgrade_offer_is_ignored_with_its_body() -> None:
    raw = HEAD + b"Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 5\r\n\r\nhello"
    for cut in range(1, len(raw)):
        ((head, body),) = read(raw[:cut], raw[cut:])
        assert body == b"hello"
        assert b"upgrade" not in head.fields


def added(reader: RequestReader, sink: Sink, data: bytes) -> list[object]:
    """What reading `data` adds: requests, lengths told, an error."""
    sink.requests, sink.lengths = [], []
    error: object = None
    try:
        reader.feed(data)
    except ClientError as refusal:
        error = (type(refusal), str(refusal))
    return [*sink.requests, *sink.lengths, error, reader.inside_message]


def read_again(first: bytes, then: bytes, limits: HttpLimits) -> list[object]:
    sink = Sink()
    reader = RequestReader(sink, limits)
    reader.feed(first)
    return added(reader, sink, then)


def read_anew(data: bytes, limits: HttpLimits) -> list[object]:
    sink = Sink()
    return added(RequestReader(sink, limits), sink, data)


AGAIN = [
    PLAIN,
    PLAIN[:-1],
    PLAIN + b"x",
    PLAIN + PLAIN,
    PLAIN[:-5],
    HEAD + b"Content-Length: 7\r\n\r\ngoodbye",
    HEAD + b"Content-Length: 007\r\n\r\ngoodbye",
    HEAD + b"Content-Length: 0\r\n\r\n",
    HEAD + b"Content-Length: 11\r\n\r\nhello world",
    HEAD + b"Content-Length: 999999999999\r\n\r\nhello",
    *(
        HEAD + b"Content-Length: %b\r\n\r\nhello" % odd
        for odd in (b"+5", b"-5", b"", b" 5", b"5 ", b"5,5", b"0x5", b"5_0")
    ),
    HEAD + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
    HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    HEAD + b"Content-Length: 5\n\r\nhello",
    b"\r\n" + PLAIN,
]


@pytest.mark.parametrize("again", AGAIN)
def test_a_head_that_comes_again_is_read_as_if_it_were_new(again: bytes) -> None:
    for limits in (HttpLimits(), HttpLimits(head=len(PLAIN) - 5, body=10)):
        assert read_again(PLAIN, again, limits) == read_anew(again, limits)
        continued = HEAD + b"Expect: 100-continue\r\nContent-Length: 5\r\n\r\n"
        assert read_again(continued + b"hello", again, HttpLimits()) == read_anew(again, HttpLimits())


@pytest.mark.parametrize("raw", [*AMBIGUOUS.values(), *UNUSUAL.values()], ids=[*AMBIGUOUS, *UNUSUAL])
def test_behind_a_usual_request_all_is_read_as_if_it_were_first(raw: bytes) -> None:
    usual = by_length()
    assert read_again(usual, raw, HttpLimits()) == read_anew(raw, HttpLimits())


@given(st.data())
def test_a_request_like_the_one_before_is_read_as_if_it_were_new(data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(PLAIN)))
    to = data.draw(st.integers(at, min(len(PLAIN), at + 4)))
    again = PLAIN[:at] + data.draw(st.binary(max_size=4)) + PLAIN[to:]
    assert read_again(PLAIN, again, HttpLimits()) == read_anew(again, HttpLimits())


def test_heads_that_come_again_are_one_value() -> None:
    sink = Sink()
    reader = RequestReader(sink, HttpLimits())
    for body in (b"hello", b"goodbye"):
        reader.feed(HEAD + b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    assert sink.heads[0] is sink.heads[1]
    assert sink.lengths == [5, 7]
    assert [body for _, body in sink.requests] == [b"hello", b"goodbye"]


def test_what_the_sink_raises_comes_out() -> None:
    class Refusing(Sink):
        def on_head(self, head: RequestHead, length: int | None) -> None:
            raise BodyTooLarge("no")

    with pytest.raises(BodyTooLarge, match="no"):
        RequestReader(Refusing(), HttpLimits()).feed(PLAIN)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with contextlib.suppress(ClientError):
        read(data)


@given(st.lists(st.binary(min_size=1, max_size=50), max_size=6), st.data())
def test_bodies_survive_any_chunking(parts: list[bytes], data: st.DataObject) -> None:
    raw = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    raw += b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
    cut = data.draw(st.integers(1, len(raw)))
    ((_, body),) = read(*[piece for piece in (raw[:cut], raw[cut:]) if piece])
    assert body == b"".join(parts)


def test_a_closed_reader_keeps_nobody_alive() -> None:
    sink = Sink()
    sink.reader = RequestReader(sink, HttpLimits())  # type: ignore[attr-defined]
    sink.reader.feed(PLAIN)  # type: ignore[attr-defined]
    sink.reader.close()  # type: ignore[attr-defined]
    gone = weakref.ref(sink)
    gc.disable()
    try:
        del sink
        assert gone() is None
    finally:
        gc.enable()
