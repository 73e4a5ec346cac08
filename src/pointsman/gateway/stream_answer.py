"""A stream of events on its way to the client.

Nothing is sent before the first event with content, so that an error until then can still become a real status or a
second try. After it events pass as they come, whole, and a cut is told in-band: one error event, `[DONE]`, the end.
"""

from __future__ import annotations

from typing import Final

from pointsman.brain.model.errors import NodeFailed, PointsmanError
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.gateway.answers import HELD_BYTES, WELL, Answer, Progress, ended, verdict_on
from pointsman.gateway.kept import Kept
from pointsman.gateway.reply import Reply
from pointsman.gateway.upstream import Shortcut
from pointsman.wire.http1.heads import own_lines, response_lines
from pointsman.wire.http1.messages import ResponseHead
from pointsman.wire.openai.account import StreamAccount
from pointsman.wire.openai.errors import error_body, error_status
from pointsman.wire.sse import EventCutter, event_data

TOKENS_EVERY: Final = 16
"""Content events between two accounts of progress to the brain."""


class StreamAnswer(Answer):
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
        super().__init__()
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

    def take(self, data: bytes) -> None:
        """Raises EventTooLarge."""
        account, strip = self._account, self._strip_usage
        events = self._cutter.feed(data)
        if len(events) == 1:
            out = b"" if account.see(events[0]) and strip else events[0]
        else:
            out = b"".join([event for event in events if not (account.see(event) and strip)])
        self._hand_on(out, events)

    def _hand_on(self, out: bytes, events: list[bytes]) -> None:
        """Give `out` to the client, and account for the `events` it was made of."""
        if not self.begun:
            self._hold(out)
        elif out:
            self._reply.write(out)
        if self._account.done:
            self.over = bool(events) and event_data(events[-1]) == b"[DONE]"
        self._tell_some()

    def shortcut(self) -> Shortcut | None:
        """Between two events, once there was content, one more of nothing but content passes as it is."""
        account = self._account
        if not self.begun or not account.content_events or account.done or self._cutter.rest:
            return None
        transport = self._reply.between_chunks()
        return None if transport is None else (transport, account.likeness)

    def passed(self, count: int) -> None:
        self._account.content_events += count
        self._tell_some()

    def tell_rest(self) -> None:
        new = self._account.content_events - self._told
        if new > 0 and not self._account.usage.completion:
            self._told += new
            self._progress.more_tokens(new)

    def end(self) -> Outcome:
        rest = bytes(self._cutter.rest)
        if rest:
            self._account.see(rest)
        self.tell_rest()
        account = self._account
        if account.error and not self.begun:
            return self._end_with_error()
        if not account.succeeded() and not account.error:
            return self.cut("truncated")
        return self._complete(rest)

    def cut(self, reason: str) -> Outcome:
        return self._ended_by(NodeFailed(f"the answer was cut ({reason})"), reason)

    def end_by(self, error: PointsmanError) -> None:
        self._ended_by(error, error.code)

    def _ended_by(self, error: PointsmanError, reason: str) -> Outcome:
        self.tell_rest()
        account = self._account
        if account.error and not self.begun:
            return self._end_with_error()
        if account.succeeded() or account.error:  # all was said; only the end of the body is missing
            return self._complete(b"")
        if self.begun:
            self._reply.write(account.last_words(error_body(error)))
            self._reply.end()
        return ended(Verdict.FAIL, reason, 502, account.usage, delivered=self.begun)

    def _complete(self, rest: bytes) -> Outcome:
        account = self._account
        self._begin()
        if rest:
            self._reply.write(rest)
        self._reply.end()
        if account.error:
            return ended(Verdict.FAIL, "inband_error", self._head.status, account.usage)
        return ended(WELL, "done", self._head.status, account.usage)

    def _hold(self, out: bytes) -> None:
        account = self._account
        if not account.error or len(self._held) < HELD_BYTES:
            self._held += out
        if account.content_events:
            self._begin()
            self._told = 1
            self._progress.first_token()
        elif not account.error and (account.done or len(self._held) >= HELD_BYTES):
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

    def _tell_some(self) -> None:
        new = self._account.content_events - self._told
        if new >= TOKENS_EVERY:
            self._told += new
            self._progress.more_tokens(new)

    def _end_with_error(self) -> Outcome:
        """An error before any content: a real status, which may call for another try."""
        status = error_status(self._account.error)
        lines = own_lines(status, b"application/json", self._request_id)
        self.kept = Kept(lines, self._account.error)
        return Outcome(verdict=verdict_on(status), reason="inband_error", status=status, delivered=False)
