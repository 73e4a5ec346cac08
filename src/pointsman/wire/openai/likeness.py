"""Most reads of a stream are like the one before but for their text: the same bytes before it, and the same behind.

To compare costs a tenth of looking for every member that matters (`ordinary.py`). So of a read that was looked into and
found ordinary the bytes around its text are kept, and the next one is put together of them and of what it has in their
midst. If that is what came, and what is in the midst can be nothing but text, it is as ordinary as the one before. What
is not alike is looked into, and kept in its turn.
"""

from collections.abc import Callable
from typing import Final

from pointsman.wire.http1.framing import LINE_END, size_line

_TEXTS: Final = (
    b'"content":"',
    b'"text":"',
    b'"delta":"',
    b'"reasoning_content":"',
    b'"reasoning":"',
    b'"arguments":"',
)
"""What a piece of text follows."""
_QUOTE: Final = 0x22
_BACKSLASH: Final = b"\\"
"""Before a quote it says that the text goes on."""
_LINE_FEED: Final = 0x0A
_CARRIAGE_RETURN: Final = 0x0D


class Likeness:
    """Tells which reads of one stream are ordinary. `look` is what looks into one, by its bytes alone."""

    __slots__ = ("_after", "_before", "_look")

    def __init__(self, look: Callable[[bytes], bool]) -> None:
        self._look = look
        self._before = b""
        self._after = b""

    def passes(self, read: bytes) -> bool:
        """Whether a read is one chunk of one event of text and nothing else; keeps it if it had to be looked into."""
        if self._is_like_the_last(read):
            return True
        if not self._look(read):
            return False
        line = size_line(len(read))
        if line:
            self.keep(read[len(line) : -len(LINE_END)])
        return True

    def _is_like_the_last(self, read: bytes) -> bool:
        before, after = self._before, self._after
        line = size_line(len(read))
        start, end = len(line) + len(before), len(read) - len(after)
        if not line or not before or start > end:
            return False
        text = read[start:end]
        return line + before + text + after == read and not (
            _QUOTE in text or _LINE_FEED in text or _CARRIAGE_RETURN in text or text.endswith(_BACKSLASH)
        )

    def keep(self, event: bytes) -> None:
        """Keep what surrounds the text of an event that was looked into and found ordinary."""
        for name in _TEXTS:
            at = event.find(name)
            if at >= 0:
                start = at + len(name)
                end = event.find(b'"', start)
                if end >= 0 and not event[start:end].endswith(_BACKSLASH):
                    self._before, self._after = event[:start], event[end:] + LINE_END
                return
