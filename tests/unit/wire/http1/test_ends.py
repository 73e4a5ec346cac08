"""Ends are found wherever the bytes are cut."""

import pytest

from pointsman.wire.http1.ends import Chunks, EmptyLine

HEAD = b"GET / HTTP/1.1\r\na: b\r\n\r\n"
BODIES = [
    b"0\r\n\r\n",
    b"5\r\nhello\r\n0\r\n\r\n",
    b"5;a=b\r\nhello\r\n000;c\r\nd: e\r\nf: g\r\n\r\n",
    b"A\r\n\r\n\r\n0\r\n\r\nx\r\n00a\r\n0\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n",
]


def test_the_empty_line() -> None:
    data = HEAD + b"next"
    for cut in range(len(data)):
        finder = EmptyLine()
        first = finder.end(data[:cut], 0)
        if first < cut:
            assert first == len(HEAD)
        elif cut < len(HEAD):
            assert cut + finder.end(data[cut:], 0) == len(HEAD)


def test_the_empty_line_byte_by_byte() -> None:
    for start in (HEAD, b"\r\r\n\n\r\n\r\n", b"\r\n\r\n"):
        finder = EmptyLine()
        rest = start + b"\r\nx"
        for at in range(len(start)):
            assert finder.end(rest[: at + 1], at) == at + 1
        assert finder.end(rest, len(start)) == len(rest)


def test_one_empty_line_is_not_found_twice() -> None:
    finder = EmptyLine()
    assert finder.end(HEAD + HEAD, 0) == len(HEAD)
    assert finder.end(HEAD + HEAD, len(HEAD)) == 2 * len(HEAD)
    assert finder.end(b"\r\n" + HEAD, 0) == len(HEAD) + 2


@pytest.mark.parametrize("body", BODIES)
def test_chunks(body: bytes) -> None:
    data = body + b"0\r\n\r\nnext"
    assert Chunks().end(b"??" + data, 2) == 2 + len(body)
    for cut in range(len(body)):
        chunks = Chunks()
        assert chunks.end(data[:cut], 0) == cut
        assert cut + chunks.end(data[cut:], 0) == len(body)
    chunks = Chunks()
    for at in range(len(body)):
        assert chunks.end(data[: at + 1], at) == at + 1


@pytest.mark.parametrize("body", [b"x\r\n", b"-1\r\nx", b"\n", b"F" * 5000 + b"\r\nx", b"1\rx\n"])
def test_anything_may_be_said_of_what_is_malformed(body: bytes) -> None:
    assert 0 < Chunks().end(body, 0) <= len(body)
