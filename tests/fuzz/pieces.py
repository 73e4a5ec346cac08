"""The same bytes in other pieces, always the same ones for the same bytes."""

from collections.abc import Iterator
from itertools import zip_longest
from zlib import crc32

DRIPPED = 300
"""Up to so many bytes an input is also given byte by byte."""


def cuts(data: bytes) -> Iterator[list[bytes]]:
    """A few ways to cut `data`; no piece is empty."""
    size = len(data)
    if size < 2:
        return
    number = crc32(data)
    at = 1 + number % (size - 1)
    yield [data[:at], data[at:]]
    step = 1 if size <= DRIPPED else 2 + number % 13
    yield [data[start : start + step] for start in range(0, size, step)]
    body = data.partition(b"\r\n\r\n")[2]
    lines = body.splitlines(keepends=True)
    yield [piece for piece in (data[: len(data) - len(body)], *lines) if piece]
    yield [piece for piece in (data[: len(data) - len(body)], *pairs(lines)) if piece]


def pairs(lines: list[bytes]) -> Iterator[bytes]:
    """Every two lines together: chunks, each with its size."""
    return map(b"".join, zip_longest(lines[::2], lines[1::2], fillvalue=b""))
