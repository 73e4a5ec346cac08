"""The same bytes in other pieces, always the same ones for the same bytes."""

from collections.abc import Iterator
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
