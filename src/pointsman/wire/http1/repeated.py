"""Heads that come again.

Clients and engines put the same head before every message on a connection, but for the length of the body. Such a head
need not be parsed a second time: it is recognised by its bytes, all of them but the digits of Content-Length. Nothing
else is recognised, and what is not recognised is parsed.
"""

import re
from typing import Generic, TypeVar

import msgspec

Head = TypeVar("Head")

LENGTH_DIGITS = 9
"""Most digits of a length that is recognised."""

_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,%d})\r\n" % LENGTH_DIGITS, re.IGNORECASE)


class Repeated(msgspec.Struct, Generic[Head], frozen=True):
    """A head that was parsed, and its bytes before and after the digits of its length."""

    head: Head
    before: bytes
    after: bytes

    def body_at(self, data: bytes) -> int:
        """Where the body begins, if `data` is this head with any length and its whole body; else -1."""
        before, after = self.before, self.after
        if data.startswith(before):
            start = len(before)
            end = data.find(b"\r", start, start + LENGTH_DIGITS + 1)
            if end >= 0 and data.startswith(after, end):
                digits = data[start:end]
                at = end + len(after)
                if digits.isdigit() and len(data) - at == int(digits):
                    return at
        return -1


def repeated(raw: bytes, head: Head) -> Repeated[Head] | None:
    """What recognises `raw`, which was parsed as `head`; None unless that is one head with a usual Content-Length."""
    found = _LENGTH.search(raw)
    if found is None or raw.find(b"\r\n\r\n") != len(raw) - 4:
        return None
    return Repeated(head, raw[: found.start(1)], raw[found.end(1) :])
