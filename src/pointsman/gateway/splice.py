"""One client's stream made of the answers of several nodes.

The first node's events pass as ever, and what they deliver is kept (`wire/openai/delivered.py`). If that node is lost,
the next one is asked for the rest, and its events take on the identity of the stream that was begun: the same id,
time and model, no second role, one usage for the whole. A stream is only ever cut between events. What cannot go on is
ended by whoever owns the splice, with one error event.
"""

from __future__ import annotations

from pointsman.brain.model.errors import PointsmanError
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.gateway.answers import Answer, Progress, verdict_on
from pointsman.gateway.reply import Reply
from pointsman.gateway.stream_answer import StreamAnswer
from pointsman.gateway.upstream import Shortcut
from pointsman.gateway.work import Work
from pointsman.wire.http1.messages import ResponseHead
from pointsman.wire.openai.account import DONE_EVENT, ChatAccount
from pointsman.wire.openai.delivered import Delivered, Identity, without_ids
from pointsman.wire.openai.errors import error_body
from pointsman.wire.openai.likeness import Likeness
from pointsman.wire.openai.ordinary import is_choice_text
from pointsman.wire.openai.resumable import Asked, continuation, leaves_any


class Splice:
    """What the tries of one request share.

    `begun` once the client has something, `over` once it has the end; `continues` while a try is for the rest.
    `strips`: token ids that the client has not asked for are taken out.
    """

    __slots__ = (
        "_before",
        "_identity",
        "_reply",
        "_telling",
        "_work",
        "asked",
        "begun",
        "continues",
        "delivered",
        "over",
        "strips",
    )

    def __init__(self, work: Work, asked: Asked, reply: Reply) -> None:
        self._work = work
        self._reply = reply
        self.asked = asked
        self.strips = (asked.by_tokens and not asked.shows_ids) or work.telling is not None
        self.begun = False
        self.over = False
        self.continues = False
        self._telling = work.telling
        self._before = 0
        self._forget()

    @property
    def open(self) -> bool:
        """Whether the client has a part of its answer, and waits for the rest."""
        return self.begun and not self.over

    @property
    def goes_on(self) -> bool:
        """Whether another node can be asked for the rest of what the client has."""
        delivered = self.delivered
        known = not self.asked.by_tokens or bool(delivered.prompt_ids) or not delivered.tokens
        return self.begun and delivered.plain and known and leaves_any(self.asked, delivered.tokens)

    def work(self) -> Work:
        """What the next try sends: the request, or one for the rest of its answer."""
        self.continues = self.begun
        if not self.begun:
            self._forget()
            return self._work
        self._reply.scatter()
        self._before = self.delivered.tokens
        body = continuation(self.asked, self.delivered)
        if not (self.asked.by_tokens and self.asked.is_chat and self.delivered.tokens):
            return self._work.sending(body, self._work.head)
        client = self._work.head
        target = client.target.replace(b"/chat/completions", b"/completions", 1)
        return self._work.sending(body, client.aimed_at(target))

    def answer(self, head: ResponseHead, progress: Progress) -> Answer:
        """What becomes of a node's response: an event stream, or whatever answers the request for the rest."""
        if head.status == 200 and head.is_event_stream:
            return SplicedAnswer(head, self, self._reply, self._work, progress)
        return RefusedRest(head.status, self)

    def dress(self, event: bytes) -> bytes:
        """A node's event as the client shall see it, and noted as delivered; empty if there is nothing to see."""
        asked = self.asked
        self.delivered.see(event, by_tokens=asked.by_tokens)
        if self.continues:
            event = self._identity.put_on(event, self._before)
        else:
            self._identity.learn(event)
        if self._telling is not None and self.delivered.prompt_ids:
            self._telling.told(self.delivered.prompt_ids)
            self._telling = None
        return without_ids(event) if self.strips else event

    def lost(self, verdict: Verdict, reason: str, status: int) -> Outcome:
        """How a try ends that leaves the answer without its end."""
        return Outcome(
            verdict=verdict,
            reason=reason,
            status=status,
            delivered=self.begun,
            resumable=self.goes_on,
            new_tokens=self.delivered.tokens - self._before,
        )

    def break_off(self, error: PointsmanError) -> None:
        """End the client's stream, which was begun, by one error event."""
        self.over = True
        self._reply.write(ChatAccount().last_words(error_body(error)))
        self._reply.end()

    def _forget(self) -> None:
        """Of a try nothing was delivered: the next one begins anew."""
        self.delivered = Delivered()
        self._identity = Identity(is_chat=self.asked.is_chat)


class SplicedAnswer(StreamAnswer):
    """A stream of events, perhaps one that goes on where another was cut."""

    __slots__ = ("_splice",)

    def __init__(self, head: ResponseHead, splice: Splice, reply: Reply, work: Work, progress: Progress) -> None:
        super().__init__(head, reply, work.id, ChatAccount(), progress, work.strip_usage)
        self._splice = splice
        self._account.likeness = Noted(splice)
        self.begun = splice.begun

    def take(self, data: bytes) -> None:
        events = self._cutter.feed(data)
        self._hand_on(b"".join([self._passed(event) for event in events]), events)

    def shortcut(self) -> Shortcut | None:
        """Events of the first node pass as they are, and are noted, unless they bring token ids."""
        if self._splice.asked.by_tokens or self._splice.strips or self._splice.continues:
            return None
        return super().shortcut()

    def _ended_by(self, error: PointsmanError, reason: str) -> Outcome:
        account = self._account
        if not self.begun or account.succeeded() or account.error:
            return super()._ended_by(error, reason)
        return self._splice.lost(Verdict.FAIL, reason, 502)

    def _passed(self, event: bytes) -> bytes:
        event = self._splice.dress(event)
        if not event:
            return b""
        is_usage = self._account.see(event)
        if self.begun and not self._told and self._account.content_events:  # the first of the rest
            self._told = 1
            self._progress.first_token()
        return b"" if is_usage and self._strip_usage else event

    def _begin(self) -> None:
        super()._begin()
        self._splice.begun = True

    def _complete(self, rest: bytes) -> Outcome:
        """All was said; `[DONE]`, if the node was lost just before it, is ours to say."""
        self._splice.over = True
        rest = self._splice.dress(rest) if rest else rest
        if not (self._account.done or self._account.error):
            rest += DONE_EVENT
        return super()._complete(rest)


class Noted(Likeness):
    """Notes what passes as delivered."""

    __slots__ = ("_splice",)

    def __init__(self, splice: Splice) -> None:
        super().__init__(is_choice_text)
        self._splice = splice

    def passes(self, read: bytes) -> bool:
        if not super().passes(read):
            return False
        self._splice.delivered.see(read[read.index(b"data: ") : -2], by_tokens=False)
        return True


class RefusedRest(Answer):
    """Anything but a stream in answer to the request for the rest: nothing of it is for the client."""

    __slots__ = ("_splice", "_status")

    def __init__(self, status: int, splice: Splice) -> None:
        super().__init__()
        self._status = status
        self._splice = splice

    def take(self, data: bytes) -> None:
        """Nothing is made of it."""

    def end(self) -> Outcome:
        """Another node may do better where this one failed; what it will not do at all, no other will."""
        status = self._status
        verdict, reason = verdict_on(status), f"status_{status}"
        if verdict is not Verdict.OK:
            return self._splice.lost(verdict, reason, status)
        return Outcome(verdict=Verdict.INTERRUPTED, reason=reason, status=502)

    def cut(self, reason: str) -> Outcome:  # noqa: ARG002 - the status says more than how its body ended
        return self.end()
