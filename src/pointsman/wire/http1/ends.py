"""Where a message ends among bytes, found without reading what is in it.

llhttp does not tell where a message ended, and takes what follows for the next one. These say in advance how far it
may be fed. They need not judge: of what is malformed they may say anything, since llhttp refuses it.
"""

import re

EMPTY_LINE = b"\r\n\r\n"
_SIZE_LINE = re.compile(rb"([0-9A-Fa-f]+)[^\n]*\n").match
_CHUNK_END = 2  # bytes: a line end


class EmptyLine:
    """Finds the end of a line end and the empty line behind it, however they are cut."""

    __slots__ = ("_tail",)

    def __init__(self, tail: bytes = b"") -> None:
        self._tail = tail

    def end(self, data: bytes, at: int) -> int:
        """The place behind the next empty line in `data` from `at` on, else the end of `data`."""
        tail = self._tail
        if tail:
            seam = (tail + data[at : at + 3]).find(EMPTY_LINE)
            if seam >= 0:
                self._tail = b""
                return at + seam + len(EMPTY_LINE) - len(tail)
        found = data.find(EMPTY_LINE, at)
        if found >= 0:
            self._tail = b""
            return found + len(EMPTY_LINE)
        self._tail = (tail + data[max(at, len(data) - 3) :])[-3:]
        return len(data)


class Chunks:
    """Finds the end of one body in chunks: behind the empty line after its last chunk and trailers."""

    __slots__ = ("_left", "_line", "_trailers")

    def __init__(self) -> None:
        self._left = 0  # bytes of the chunk under way, its line end included
        self._line = b""  # a size that is not complete
        self._trailers: EmptyLine | None = None

    def end(self, data: bytes, at: int) -> int:
        """The place behind the body in `data`, of which `data[at:]` is new, else the end of `data`."""
        if not self._line:
            return self._end(data, at)
        begun, self._line = self._line, b""
        return at - len(begun) + self._end(begun + data[at:], 0)

    def _end(self, data: bytes, at: int) -> int:
        while self._trailers is None:
            at += self._left
            if at >= len(data):
                self._left = at - len(data)
                return len(data)
            self._left = 0
            line = _SIZE_LINE(data, at)
            if line is None:
                self._line = data[at:]
                return len(data)
            at = line.end()
            size = int(line[1], 16)
            if size:
                self._left = size + _CHUNK_END
            else:
                self._trailers = EmptyLine(line[0][-_CHUNK_END:])
        return self._trailers.end(data, at)
