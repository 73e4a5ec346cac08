"""Server-sent events cut out of a byte stream, whole and unchanged.

An event ends with a blank line; a line ends with LF, CRLF or CR. The usual read is one or several whole events with LF
ends, recognised by `bytes.find` alone; anything else takes the slow path through a buffer. Bytes are handed on only as
whole events, so a stream can be ended, or one event left out, without a torn line reaching the client.
"""

import re
from typing import Final

EVENT_LIMIT: Final = 16 * 1024 * 1024
"""Bytes. Tool arguments and token-id lists make events of some MiB; beyond this it is no event stream."""

_BLANK_LINE: Final = re.compile(rb"\n\n|\n\r\n|\n\r(?=[^\n])|\r\r\n?")
"""`\\n\\r` may be the half of a blank line with a CRLF end: only the next byte tells."""
_LINE_END = re.compile(rb"\r\n|\n|\r")


class EventTooLarge(Exception):
    """No event ended within EVENT_LIMIT bytes."""


class EventCutter:
    """Cuts a stream into events. `rest` holds the bytes of an event that is not complete yet."""

    __slots__ = ("rest",)

    def __init__(self) -> None:
        self.rest = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """The events completed by `data`, raw, blank lines included: joined with `rest` they are the input.

        Raises EventTooLarge.
        """
        if not self.rest and data.endswith(b"\n\n") and data.find(b"\r") < 0:
            end = data.find(b"\n\n") + 2
            if end == len(data):
                return [data]
            if not data.endswith(b"\n\n\n"):
                events = [data[:end]]
                while end < len(data):
                    start, end = end, data.find(b"\n\n", end) + 2
                    events.append(data[start:end])
                return events
        return self._cut(data)

    def _cut(self, data: bytes) -> list[bytes]:
        rest = self.rest
        search_from = max(0, len(rest) - 2)
        rest += data
        events = []
        start = 0
        for blank in _BLANK_LINE.finditer(rest, search_from):
            events.append(bytes(rest[start : blank.end()]))
            start = blank.end()
        del rest[:start]
        if len(rest) > EVENT_LIMIT:
            raise EventTooLarge(f"an event longer than {EVENT_LIMIT} bytes")
        return events


def event_data(event: bytes) -> bytes:
    """The data of a raw event: its `data` lines joined by LF; empty for a comment."""
    if event.startswith(b"data: ") and event.find(b"\n") >= len(event) - 2 and event.find(b"\r") < 0:
        return event[6:].rstrip(b"\n")
    return b"\n".join(
        line[5:].removeprefix(b" ") if line != b"data" else b""
        for line in _LINE_END.split(event)
        if line.startswith(b"data:") or line == b"data"
    )


def data_event(data: bytes) -> bytes:
    """One event of one line."""
    return b"data: " + data + b"\n\n"
