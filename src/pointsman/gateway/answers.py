"""What becomes of a node's response, by its kind.

- `PlainAnswer`: passed on as it comes; once a byte is with the client there is no way back.
- `StreamAnswer`: an event stream. Nothing is sent before the first event with content, so that an error until then can
  still become a real status or a second try. After it events pass as they come, whole, and a cut is told in-band.
- `KeptAnswer`: an error held back, because another node may do better; it is sent if none does.

Each ends once, by `end` or `cut`, with the outcome of the try. `begun` turns true with the first byte for the client.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from pointsman.brain.model.errors import NodeFailed
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.gateway.reply import Reply
from pointsman.wire.http1.heads import own_lines, response_lines
from pointsman.wire.http1.response import ResponseHead
from pointsman.wire.openai.account import StreamAccount, Usage, usage_of
from pointsman.wire.openai.errors import error_body
from pointsman.wire.sse import EventCutter, data_event

ACCOUNTED_BYTES = 1024 * 1024
"""Plain answers beyond this size are not searched for usage."""
HELD_BYTES = 64 * 1024
"""Most that is held back of a stream without content, and of an error."""
TOKENS_EVERY = 16
"""Content events between two accounts of progress to the brain."""

_BUSY = (429, 503)
_FAILED = (401, 500, 502, 504)
HELD_BACK = frozenset(_BUSY + _FAILED)
"""Statuses with which another node may do better. A 401 means that the node refused our own key."""


def verdict_on(status: int) -> Verdict:
    """What an HTTP status says about the node."""
    if status in _BUSY:
        return Verdict.BUSY
    return Verdict.FAIL if status in _FAILED else Verdict.OK


class Kept(msgspec.Struct, frozen=True):
    """A node's own error answer, ready to be sent."""

    lines: bytes
    body: bytes


class Progress(Protocol):
    """Told of tokens as they come."""

    def first_token(self) -> None: ...

    def more_tokens(self, count: int) -> None: ...


class Answer(Protocol):
    """One response on its way."""

    kept: Kept | None

    def take(self, data: bytes) -> None: ...

    def end(self) -> Outcome: ...

    def cut(self, reason: str) -> Outcome: ...


class PlainAnswer:
    """Anything that is neither an event stream nor an error to hold back."""

    __slots__ = ("_copied", "_copy", "_reply", "_status", "kept")

    def __init__(self, head: ResponseHead, reply: Reply, request_id: bytes) -> None:
        self._reply = reply
        self._status = head.status
        self._copy: list[bytes] = []
        self._copied = 0
        self.kept: Kept | None = None
        reply.start(response_lines(head, request_id), head.length, bodiless=head.status in (204, 304))

    def take(self, data: bytes) -> None:
        self._copied += len(data)
        if self._copied <= ACCOUNTED_BYTES:
            self._copy.append(data)
        self._reply.write(data)

    def end(self) -> Outcome:
        self._reply.end()
        usage = usage_of(b"".join(self._copy)) if self._copied <= ACCOUNTED_BYTES else Usage()
        return ended(verdict_on(self._status), "done", self._status, usage)

    def cut(self, reason: str) -> Outcome:
        if self._reply.started:
            self._reply.break_off()
        return Outcome(verdict=Verdict.FAIL, reason=reason, status=502, delivered=self._reply.started)


class KeptAnswer:
    """An error another node may spare the client."""

    __slots__ = ("_body", "_head", "_request_id", "kept")

    def __init__(self, head: ResponseHead, request_id: bytes) -> None:
        self._head = head
        self._request_id = request_id
        self._body = b""
        self.kept: Kept | None = None

    def take(self, data: bytes) -> None:
        self._body = (self._body + data)[:HELD_BYTES]

    def end(self) -> Outcome:
        status = self._head.status
        if status != 401:
            self.kept = Kept(response_lines(self._head, self._request_id), self._body)
        return Outcome(verdict=verdict_on(status), reason=f"status_{status}", status=status, delivered=False)

    def cut(self, reason: str) -> Outcome:  # noqa: ARG002 - the status says more than how its body ended
        return self.end()


class StreamAnswer:
    """A stream of events."""

    __slots__ = (
        "_account",
        "_cutter",
        "_head",
        "_held",
        "_progress",
        "_reply",
        "_request_id",
        "_strip_usage",
        "_told",
        "begun",
        "kept",
    )

    def __init__(
        self,
        head: ResponseHead,
        reply: Reply,
        request_id: bytes,
        account: StreamAccount,
        progress: Progress,
        strip_usage: bool,
    ) -> None:
        self._head = head
        self._reply = reply
        self._request_id = request_id
        self._account = account
        self._progress = progress
        self._strip_usage = strip_usage
        self._cutter = EventCutter()
        self._held = b""
        self._told = 0
        self.begun = False
        self.kept: Kept | None = None

    def take(self, data: bytes) -> None:
        """Raises EventTooLarge."""
        see = self._account.see
        strip = self._strip_usage
        events = self._cutter.feed(data)
        if len(events) == 1:
            out = b"" if see(events[0]) and strip else events[0]
        else:
            out = b"".join([event for event in events if not (see(event) and strip)])
        if self.begun:
            if out:
                self._reply.write(out)
        else:
            self._hold(out)
        if self._account.content_events - self._told >= TOKENS_EVERY:
            self._tell()

    def end(self) -> Outcome:
        rest = bytes(self._cutter.rest)
        if rest:
            self._account.see(rest)
        account = self._account
        if account.error and not self.begun:
            return self._end_with_error()
        if not account.succeeded() and not account.error:
            return self.cut("truncated")
        self._begin()
        if rest:
            self._reply.write(rest)
        self._reply.end()
        verdict, reason = (Verdict.FAIL, "inband_error") if account.error else (Verdict.OK, "done")
        return ended(verdict, reason, self._head.status, account.usage)

    def cut(self, reason: str) -> Outcome:
        if self.begun:
            error = NodeFailed(f"the answer was cut ({reason})")
            self._reply.write(data_event(error_body(error)) + data_event(b"[DONE]"))
            self._reply.end()
        return ended(Verdict.FAIL, reason, 502, self._account.usage, delivered=self.begun)

    def _hold(self, out: bytes) -> None:
        self._held += out
        account = self._account
        if account.content_events:
            self._progress.first_token()
            self._told = 1
        elif account.error or (not account.done and len(self._held) < HELD_BYTES):
            return
        self._begin()

    def _begin(self) -> None:
        """Send the head and what was held back."""
        if self.begun:
            return
        self.begun = True
        self._reply.start(response_lines(self._head, self._request_id), None)
        if self._held:
            self._reply.write(self._held)
            self._held = b""

    def _tell(self) -> None:
        self._progress.more_tokens(self._account.content_events - self._told)
        self._told = self._account.content_events

    def _end_with_error(self) -> Outcome:
        """An error before any content: a real status, which may call for another try."""
        status = _status_of(self._account.error)
        lines = own_lines(status, b"application/json", self._request_id)
        self.kept = Kept(lines, self._account.error)
        return Outcome(verdict=verdict_on(status), reason="inband_error", status=status, delivered=False)


class _ErrorCode(msgspec.Struct):
    code: int | str | None = None


class _ErrorEvent(msgspec.Struct):
    error: _ErrorCode | str | None = None
    code: int | str | None = None


def _status_of(payload: bytes) -> int:
    """The HTTP status an in-band error names, else 500."""
    try:
        event = msgspec.json.decode(payload, type=_ErrorEvent)
    except msgspec.DecodeError:
        return 500
    code = event.error.code if isinstance(event.error, _ErrorCode) else event.code
    return code if isinstance(code, int) and 400 <= code <= 599 else 500


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
