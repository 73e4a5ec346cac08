"""Where a body and its chunks end."""

from typing import Final

LINE_END: Final = b"\r\n"
LAST_CHUNK: Final = b"0\r\n\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_KNOWN: Final = 1024
"""Bytes. Shorter chunks, which most of a stream's are, have their size lines made beforehand."""


def chunk(data: bytes) -> bytes:
    """`data` as one chunk. Raises ValueError for empty data: that would end the message."""
    size = len(data)
    if not size:
        raise ValueError("an empty chunk ends the message")
    line = _LINE_OF_SIZE[size] if size < _KNOWN else b"%x\r\n" % size
    return line + data + LINE_END


def chunk_body(data: bytes) -> int:
    """Where the body begins if `data` is exactly one chunk, and not the last; else 0.

    Sizes with leading zeros or extensions, which nobody writes, are not looked into.
    """
    length = len(data)
    lines = _SIZE_LINES[length] if length < _KNOWN else _size_lines(length)
    return len(lines[0]) if data.startswith(lines) and data.endswith(LINE_END) else 0


def size_line(length: int) -> bytes:
    """The line that a chunk of `length` bytes begins with, in small digits; empty if none is that long, or it is long.

    `length` counts the line itself and both line ends, as all of the chunk that was read.
    """
    return _SIZE_LINE[length] if length < _KNOWN else b""


def _size_lines(length: int) -> tuple[bytes, ...]:
    """The line that a chunk of `length` bytes begins with, in either case of its digits; none if none is that long."""
    for digits in range(1, 9):
        size = length - digits - 4  # what is left beside the digits and two line ends
        if size > 0 and len(b"%x" % size) == digits:
            return b"%x\r\n" % size, b"%X\r\n" % size
    return ()


_LINE_OF_SIZE: Final = [b"%x\r\n" % size for size in range(_KNOWN)]
"""By the size that it tells."""
_SIZE_LINES: Final = [_size_lines(length) for length in range(_KNOWN)]
_SIZE_LINE: Final = [lines[0] if lines else b"" for lines in _SIZE_LINES]
"""By the length of the whole chunk."""
