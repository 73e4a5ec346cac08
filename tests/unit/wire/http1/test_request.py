"""Requests are read the same however they are cut, and refused when they could be read in two ways."""

import contextlib
import gc
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.smuggling import AMBIGUOUS, CHAT, PATH, SECOND, UNUSUAL

from pointsman.brain.model.errors import BadRequest, BodyTooLarge, ClientError, HeadTooLarge
from pointsman.wire.http1.request import HttpLimits, RequestHead, RequestReader


class Sink:
    def __init__(self) -> None:
        self.heads: list[RequestHead] = []
        self.requests: list[tuple[RequestHead, bytes]] = []

    def on_head(self, head: RequestHead) -> None:
        self.heads.append(head)

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
    assert head.headers == [(b"host", b"h"), (b"x-two", b"1"), (b"x-two", b"2"), (b"content-length", b"5")]
    assert (head.keep_alive, head.modern, head.content_length) == (True, True, 5)
    ((old, _),) = read(b"GET / HTTP/1.0\r\n\r\n")
    assert (old.keep_alive, old.modern, old.content_length) == (False, False, 0)
    ((closing, _),) = read(b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    assert not closing.keep_alive


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


def test_long_pipeline_is_not_one_long_head() -> None:
    small = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"
    assert len(read(small * 50 + small[:10], small[10:], limits=LIMITS)) == 51


def test_an_upgrade_offer_is_ignored_with_its_body() -> None:
    raw = HEAD + b"Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 5\r\n\r\nhello"
    for cut in range(1, len(raw)):
        ((head, body),) = read(raw[:cut], raw[cut:])
        assert body == b"hello"
        assert b"upgrade" not in head.fields


def test_what_the_sink_raises_comes_out() -> None:
    class Refusing(Sink):
        def on_head(self, head: RequestHead) -> None:
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
