"""What becomes of a node's response, by its kind.

- `PlainAnswer`: passed on as it comes; once a byte is with the client there is no way back.
- `KeptAnswer`: an error held back, because another node may do better; it is sent if none does.
- `StreamAnswer` (`stream_answer.py`): an event stream.

Each ends once, by `end` or `cut`, with the outcome of the try.
"""

from __future__ import annotations

from typing import Final, Protocol

from pointsman.brain.model.errors import PointsmanError
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.gateway.kept import Kept
from pointsman.gateway.reply import Reply
from pointsman.gateway.upstream import Shortcut
from pointsman.wire.http1.heads import response_lines
from pointsman.wire.http1.messages import ResponseHead
from pointsman.wire.openai.chunk import usage_of
from pointsman.wire.openai.errors import error_status, is_error
from pointsman.wire.openai.shapes import Usage

ACCOUNTED_BYTES: Final = 1024 * 1024
"""Plain answers beyond this size are not searched for usage."""
HELD_BYTES: Final = 64 * 1024
"""Most that is held back of a stream without content, and kept of an error."""

_BUSY: Final = (429, 503)
_FAILED: Final = (401, 500, 502, 504)
WELL: Final = Verdict.OK  # an attribute of an enumeration is a long way to go
HELD_BACK: Final = frozenset(_BUSY + _FAILED)
"""Statuses with which another node may do better. A 401 means that the node refused our own key."""


def verdict_on(status: int) -> Verdict:
    """What an HTTP status says about the node."""
    if status in _BUSY:
        return Verdict.BUSY
    return Verdict.FAIL if status in _FAILED else WELL


class Progress(Protocol):
    """Told of tokens as they come."""

    def first_token(self) -> None: ...

    def more_tokens(self, count: int) -> None: ...


class Answer:
    """One response on its way. `over` once it has said that it is complete, though its body may not have ended."""

    __slots__ = ("kept", "over")

    def __init__(self) -> None:
        self.kept: Kept | None = None
        self.over = False

    def take(self, data: bytes) -> None:
        """Bytes of the body."""
        raise NotImplementedError

    def shortcut(self) -> Shortcut | None:
        """The way for chunks that need not be taken; None where each is looked at."""
        return None

    def passed(self, count: int) -> None:
        """So many chunks took the shortcut."""

    def tell_rest(self) -> None:
        """Tell of what came and was not told yet, where the engine has not counted it: nothing more will come."""

    def end(self) -> Outcome:
        """The body is complete."""
        raise NotImplementedError

    def cut(self, reason: str) -> Outcome:
        """No more of it will come."""
        raise NotImplementedError

    def end_by(self, error: PointsmanError) -> None:
        """No more of it is to come, for which its node is not to blame; a client that can be told is told `error`."""
        self.cut(error.code)


class PlainAnswer(Answer):
    """Anything that is neither an event stream nor an error to hold back.

    `speaks` tells that it follows OpenAI's shapes, so that an error in a 200 can be told.
    """

    __slots__ = ("_copied", "_copy", "_reply", "_speaks", "_status")

    def __init__(
        self, head: ResponseHead, length: int | None, reply: Reply, request_id: bytes, *, speaks: bool
    ) -> None:
        super().__init__()
        self._reply = reply
        self._speaks = speaks
        self._status = head.status
        self._copy: list[bytes] = []
        self._copied = 0
        reply.start(response_lines(head, request_id), length, bodiless=head.status in (204, 304))

    def take(self, data: bytes) -> None:
        self._copied += len(data)
        if self._copied <= ACCOUNTED_BYTES:
            self._copy.append(data)
        self._reply.write(data)

    def end(self) -> Outcome:
        self._reply.end()
        if self._copied > ACCOUNTED_BYTES:
            return ended(verdict_on(self._status), "done", self._status, Usage())
        body = b"".join(self._copy)
        if self._speaks and self._status == 200 and is_error(body):
            return ended(verdict_on(error_status(body)), "inband_error", self._status, Usage())
        return ended(verdict_on(self._status), "done", self._status, usage_of(body))

    def cut(self, reason: str) -> Outcome:
        if self._reply.started:
            self._reply.break_off()
        return Outcome(verdict=Verdict.FAIL, reason=reason, status=502, delivered=self._reply.started)


class KeptAnswer(Answer):
    """An error another node may spare the client."""

    __slots__ = ("_body", "_head", "_request_id")

    def __init__(self, head: ResponseHead, request_id: bytes) -> None:
        super().__init__()
        self._head = head
        self._request_id = request_id
        self._body = b""

    def take(self, data: bytes) -> None:
        self._body = (self._body + data)[:HELD_BYTES]

    def end(self) -> Outcome:
        status = self._head.status
        if status != 401:
            self.kept = Kept(response_lines(self._head, self._request_id), self._body)
        return Outcome(verdict=verdict_on(status), reason=f"status_{status}", status=status, delivered=False)

    def cut(self, reason: str) -> Outcome:  # noqa: ARG002 - the status says more than how its body ended
        return self.end()


def ended(verdict: Verdict, reason: str, status: int, usage: Usage, *, delivered: bool = True) -> Outcome:
    """An outcome with the usage the node reported."""
    return Outcome(
        verdict=verdict,
        reason=reason,
        status=status,
        delivered=delivered,
        prompt_tokens=usage.prompt,
        completion_tokens=usage.completion,
        cached_tokens=usage.cached,
    )
