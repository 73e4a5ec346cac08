"""Heads that come again.

Clients and engines put the same head before every message on a connection, but for the length of the body. Such a head
need not be parsed a second time: it is recognised by its bytes, all of them but the digits of Content-Length. Nothing
else is recognised, and what is not recognised is parsed.
"""

import re
from typing import Final, Generic, TypeVar

Head = TypeVar("Head")

LENGTH_DIGITS: Final = 9
"""Most digits of a length that is recognised."""

_TRIES: Final = 4
"""Heads in a row that did not come again, after which none is remembered: each has an id of its own, say."""
_LENGTH = b"\r\ncontent-length:"
_DIGITS = re.compile(rb"[ \t]*([0-9]{1,%d})\r\n" % LENGTH_DIGITS)


class Repeated(Generic[Head]):
    """The head of the message before, as its bytes before and after the digits of its length."""

    __slots__ = ("_after", "_before", "_tries", "head")

    def __init__(self) -> None:
        self.head: Head | None = None
        self._before = self._after = b""
        self._tries = _TRIES

    def body_at(self, data: bytes) -> int:
        """Where the body begins, if `data` is the same head with any length and its whole body; else -1.

        How long the body must be follows from the size of it all, so that nothing is read: the one length is written
        out and compared. One with leading zeros, which nobody writes, is not recognised.
        """
        before = self._before
        if before and data.startswith(before):
            after = self._after
            at = len(before)
            digits = _length_within(len(data) - at - len(after))
            end = at + len(digits)
            if digits and data[at:end] == digits and data[end : end + len(after)] == after:
                self._tries = _TRIES
                return end + len(after)
        return -1

    def remember(self, raw: bytes, head: Head) -> None:
        """`raw` was parsed as `head`. Nothing happens unless that is one head with a usual Content-Length."""
        if not self._tries:
            return
        self._tries -= 1
        at = raw.lower().find(_LENGTH)
        found = _DIGITS.match(raw, at + len(_LENGTH)) if at >= 0 else None
        if found is not None and raw.find(b"\r\n\r\n") == len(raw) - 4:
            self.head = head
            self._before, self._after = raw[: found.start(1)], raw[found.end(1) :]


def _length_within(size: int) -> bytes:
    """The digits of the length that fills `size` bytes together with its digits; empty if there is none, or too many.

    More digits than those of `size` it has not, and one less where it ends just below a power of ten.
    """
    length = size - len(b"%d" % size)
    digits = b"%d" % length
    if length + len(digits) != size:
        length += 1
        digits = b"%d" % length
    fits = length >= 0 and length + len(digits) == size and len(digits) <= LENGTH_DIGITS
    return digits if fits else b""
