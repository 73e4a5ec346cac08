"""Where a body and its chunks end."""

from typing import Final

LAST_CHUNK: Final = b"0\r\n\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


def chunk(data: bytes) -> bytes:
    """`data` as one chunk. Raises ValueError for empty data: that would end the message."""
    if not data:
        raise ValueError("an empty chunk ends the message")
    return b"%x\r\n%b\r\n" % (len(data), data)


def chunk_body(data: bytes) -> int:
    """Where the body begins if `data` is exactly one chunk, and not the last; else 0.

    Sizes with leading zeros or extensions, which nobody writes, are not looked into.
    """
    length = len(data)
    lines = _SIZE_LINES[length] if length < len(_SIZE_LINES) else _size_lines(length)
    return len(lines[0]) if data.startswith(lines) and data.endswith(b"\r\n") else 0


def _size_lines(length: int) -> tuple[bytes, ...]:
    """The line that a chunk of `length` bytes begins with, in either case of its digits; none if none is that long."""
    for digits in range(1, 9):
        size = length - digits - 4  # what is left beside the digits and two line ends
        if size > 0 and len(b"%x" % size) == digits:
            return b"%x\r\n" % size, b"%X\r\n" % size
    return ()


_SIZE_LINES: Final = [_size_lines(length) for length in range(1024)]
"""Those of most chunks of a stream, by length."""
