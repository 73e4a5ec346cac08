"""Tells a client that waits where it stands, if it asked for that (`x-pointsman-progress: 1`).

What is told is a comment in the stream of events that the answer will be: clients that do not look for it pass it over.
With the first one the status is out, which is why nobody is told unasked.
"""

from collections.abc import Callable, Mapping
from typing import Final

from pointsman.brain.model.errors import BadRequest
from pointsman.brain.model.standing import Standing
from pointsman.gateway.reply import Reply
from pointsman.wire.http1.heads import own_lines

CHANGES_EVERY_S: Final = 0.5
"""A position is told anew at most this often: a person sees no more, and a long queue moves by many at once."""
KEEP_ALIVE_S: Final = 5.0
"""It is told this often even where it stays, with what is expected now: proxies give up on silence of 15 s and more."""

_UNSTORED: Final = ((b"cache-control", b"no-cache"), (b"x-accel-buffering", b"no"))


def wants_progress(fields: Mapping[bytes, bytes]) -> bool:
    """Whether the client asks to be told where it stands. Raises BadRequest."""
    wish = fields.get(b"x-pointsman-progress", b"0")
    if wish not in (b"0", b"1"):
        raise BadRequest("x-pointsman-progress must be 1, to be told of one's place in the queue, or 0")
    return wish == b"1"


class Announcer:
    """Writes to `reply`; `last_words` makes the events that end a stream of its kind by an error (JSON)."""

    __slots__ = ("_last_words", "_position", "_reply", "_request_id", "_told_at")

    def __init__(self, reply: Reply, request_id: bytes, last_words: Callable[[bytes], bytes]) -> None:
        self._reply = reply
        self._request_id = request_id
        self._last_words = last_words
        self._position = 0
        self._told_at = float("-inf")

    def tell(self, standing: Standing, now: float) -> None:
        """Where the client stands at `now`, if it is time to say so."""
        silence = now - self._told_at
        moved = standing.position != self._position
        if silence < (CHANGES_EVERY_S if moved else KEEP_ALIVE_S):
            return
        self._position, self._told_at = standing.position, now
        lines = own_lines(200, b"text/event-stream; charset=utf-8", self._request_id, _UNSTORED)
        self._reply.promise(lines, self._last_words)
        self._reply.comment(_told(standing))


def _told(standing: Standing) -> bytes:
    told = b"pointsman position=%d" % standing.position
    return told if standing.expected_s is None else told + b" expected_wait_s=%.1f" % standing.expected_s
