"""What most reads from an engine are: one chunk, in it one event, in it a piece of text and nothing else.

That is told by the bytes alone, which were just read, so that nothing has to be remembered of the stream they belong
to. Nothing is decoded: a quoted `"usage"` inside a text is written `\\"usage\\"` in JSON, so text is not mistaken for
it. Whatever is not known for certain is not ordinary, and is cut and seen as if there were nothing like this.

Of most pieces even this is not asked, because they are like the one before (`likeness.py`). Where it is, `find` looks
for bytes in bytes: `in` tries them as a number first, and the exception made of that costs more than the search.
"""

from typing import Final

from pointsman.wire.http1.framing import chunk_body

_END: Final = b"}\n\n\r\n"
_ENDS: Final = (
    *(b'"error"', b'"response.failed"'),
    *(b'"message_stop"', b'"response.completed"', b'"response.incomplete"'),
)
"""What a typed event that is more than a delta may say it is."""


def says_text_alone(data: bytes, start: int = 0) -> bool:
    """Whether the bytes from `start` on show that no choice ends here, nothing is counted and nothing went wrong."""
    return (
        data.startswith(b"data: {", start)
        and _has_one(data, b'"finish_reason"', b":null")
        and _counts_nothing(data)
        and data.find(b'"error"') < 0
    )


def is_choice_text(read: bytes) -> bool:
    """Whether a read is one chunk of one event such as `says_text_alone` means."""
    start = _event_at(read, 1)
    return start > 0 and says_text_alone(read, start)


def is_typed_text(read: bytes) -> bool:
    """Whether a read is one chunk of one event whose type, on both of its lines, is that of a delta."""
    start = _event_at(read, 2)
    if not start or not read.startswith(b"event: ", start):
        return False
    line_end = read.find(b"\n", start)
    kind = read[start + 7 : line_end]
    return (
        kind.find(b"delta") >= 0
        and read.startswith(b"data: {", line_end + 1)
        and read.find(b'"type":"%b"' % kind) >= 0
        and _counts_nothing(read)
        and not any(read.find(end) >= 0 for end in _ENDS)
    )


def _counts_nothing(data: bytes) -> bool:
    return data.find(b'"usage"') < 0 or _has_one(data, b'"usage"', b":null")


def _has_one(data: bytes, name: bytes, value: bytes) -> bool:
    """Whether `name` is there once, and `value` follows it."""
    at = data.find(name)
    return at >= 0 and data.startswith(value, at + len(name)) and data.find(name, at + len(name)) < 0


def _event_at(read: bytes, lines: int) -> int:
    """Where the event begins, if `read` is one chunk and has as many lines as one event of `lines` lines; else 0."""
    start = at = chunk_body(read)
    for _ in range(lines):
        at = read.find(b"\n", at) + 1
    end = len(read) - 3
    whole = start and at == end and read.endswith(_END) and read.find(b"\r", start) == end + 1
    return start if whole else 0
