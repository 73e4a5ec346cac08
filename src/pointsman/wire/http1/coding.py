"""Undoing a content coding that nobody asked for.

Bodies are asked for uncompressed, on the client's behalf too, yet a proxy before an engine may compress all the same.
What zlib can undo is undone as it comes, so that the client gets what it can read and accounting sees the text.
"""

import zlib

_GZIP = zlib.MAX_WBITS | 16
_ZLIB = zlib.MAX_WBITS
_WINDOWS = {b"gzip": _GZIP, b"x-gzip": _GZIP, b"deflate": _ZLIB}

EXPANDED_LIMIT = 64 * 1024 * 1024
"""Bytes that one read may grow to; beyond that it is a bomb."""


class BadCoding(Exception):
    """The bytes are not what their coding says, or too many."""


class Decoding:
    """Undoes one body's coding, however it is cut."""

    __slots__ = ("_begun", "_decoder", "_window")

    def __init__(self, window: int) -> None:
        self._window = window
        self._decoder = zlib.decompressobj(window)
        self._begun = False

    def feed(self, data: bytes) -> bytes:
        """What `data` adds to the body; may be empty. Raises BadCoding."""
        out = []
        room = EXPANDED_LIMIT
        while data:
            if self._decoder.eof:  # members follow one another
                self._decoder = zlib.decompressobj(self._window)
            piece = self._decompress(data, room)
            out.append(piece)
            room -= len(piece)
            data = self._decoder.unused_data
            self._begun = True
        return b"".join(out)

    @property
    def complete(self) -> bool:
        """Whether the body may end here."""
        return self._decoder.eof or not self._begun

    def _decompress(self, data: bytes, room: int) -> bytes:
        try:
            piece = self._decoder.decompress(data, room) if room > 0 else b""
        except zlib.error as error:
            raise BadCoding(str(error)) from None
        if self._decoder.unconsumed_tail or room <= 0:
            raise BadCoding(f"a read grows beyond {EXPANDED_LIMIT} bytes")
        return piece


def decoding_of(coding: bytes) -> Decoding | None:
    """The undoing of a `Content-Encoding`, or None for one that is not known here."""
    window = _WINDOWS.get(coding.strip().lower())
    return Decoding(window) if window else None
