"""Events that come again but for their text.

An engine's chunks of one answer are alike to the byte except for the piece of text each brings. Such an event is known
by sight: no line end is looked for and no member, since it has those of the event before. Only what differs inside one
JSON string is let through, and the string must not be empty; anything else is cut and seen as if nothing were known.
"""

import re
from typing import Final

_KEYS: Final = (b'"content":"', b'"text":"', b'"reasoning_content":"', b'"reasoning":"', b'"arguments":"')
_INSIDE_STRING: Final = re.compile(rb'(?=[^\r\n])[^"\\\r\n]*(?:\\[^\r\n][^"\\\r\n]*)*').fullmatch
_STRING: Final = re.compile(rb'[^"\\]*(?:\\.[^"\\]*)*')
_TRIES: Final = 8
"""Events in a row that nothing was like, after which nothing is expected to be: each has log probabilities, say."""


class Alike:
    """The part of a stream's account that knows events by sight and counts them."""

    __slots__ = ("_after", "_before", "_tries", "content_events")

    def __init__(self) -> None:
        self._before = self._after = b""
        self._tries = _TRIES
        self.content_events = 0

    def again(self, data: bytes, start: int, end: int) -> bool:
        """Take `data[start:end]` if it is one event like the last one that was remembered, but for its text."""
        before, after = self._before, self._after
        if (
            before
            and data.startswith(before, start)
            and data.endswith(after, start, end)
            and _INSIDE_STRING(data, start + len(before), end - len(after))
        ):
            self._tries = _TRIES
            self.content_events += 1
            return True
        return False

    def text(self, data: bytes, start: int, end: int) -> bytes:
        """The text in `data[start:end]`, an event that `again` took: the inside of a JSON string."""
        return data[start + len(self._before) : end - len(self._after)]

    def _remember(self, event: bytes) -> None:
        """Know the likes of `event`, which brought text and neither usage, error nor an end."""
        if not self._tries:
            return
        self._tries -= 1
        start = _text_at(event)
        if start and event.endswith((b"\n\n", b"\r\n\r\n")):
            text = _STRING.match(event, start)
            assert text is not None  # it matches nothing, too
            self._before, self._after = event[:start], event[text.end() :]


def _text_at(event: bytes) -> int:
    """Where a text that is not empty begins; 0 if there is none."""
    for key in _KEYS:
        at = event.find(key)
        if at >= 0 and not event.startswith(b'"', at + len(key)):
            return at + len(key)
    return 0
