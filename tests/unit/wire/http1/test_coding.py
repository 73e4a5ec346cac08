"""Codings are undone the same however they are cut."""

import gzip
import zlib

import pytest

from pointsman.wire.http1 import coding
from pointsman.wire.http1.coding import BadCoding, Decoding, decoding_of

TEXT = 'data: {"content":"안녕 🚂"}\n\n'.encode() * 5


def made(name: bytes) -> Decoding:
    decoding = decoding_of(name)
    assert decoding is not None
    return decoding


@pytest.mark.parametrize(
    ("name", "data"),
    [
        (b"gzip", gzip.compress(TEXT)),
        (b"X-GZIP ", gzip.compress(TEXT)),
        (b"deflate", zlib.compress(TEXT)),
        (b"gzip", gzip.compress(TEXT[:20]) + gzip.compress(TEXT[20:])),
    ],
)
def test_cut_at_every_byte(name: bytes, data: bytes) -> None:
    for cut in range(len(data) + 1):
        decoding = made(name)
        assert decoding.feed(data[:cut]) + decoding.feed(data[cut:]) == TEXT
        assert decoding.complete


def test_what_was_flushed_comes_at_once() -> None:
    encoder = zlib.compressobj(wbits=31)
    decoding = made(b"gzip")
    for event in (b"data: 1\n\n", b"data: 2\n\n"):
        assert decoding.feed(encoder.compress(event) + encoder.flush(zlib.Z_SYNC_FLUSH)) == event
    assert not decoding.complete
    assert decoding.feed(encoder.flush()) == b""
    assert decoding.complete


def test_no_body_is_complete() -> None:
    assert made(b"gzip").complete


@pytest.mark.parametrize("name", [b"br", b"zstd", b"identity", b"gzip, br"])
def test_unknown_codings(name: bytes) -> None:
    assert decoding_of(name) is None


def test_no_such_coding_after_all() -> None:
    with pytest.raises(BadCoding):
        made(b"gzip").feed(TEXT)


def test_a_bomb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coding, "EXPANDED_LIMIT", 1000)
    with pytest.raises(BadCoding, match="grows"):
        made(b"gzip").feed(gzip.compress(b"x" * 1001))
    with pytest.raises(BadCoding, match="grows"):
        made(b"gzip").feed(gzip.compress(b"x" * 1000) + gzip.compress(b"x"))
    assert made(b"gzip").feed(gzip.compress(b"x" * 1000)) == b"x" * 1000
