"""Answers that tell token ids which the gateway had asked for: they are noted, and taken out for the client."""

from __future__ import annotations

from pointsman.brain.model.outcome import Outcome
from pointsman.gateway.answers import ACCOUNTED_BYTES, Answer, Progress, ended, verdict_on
from pointsman.gateway.reply import Reply
from pointsman.gateway.stream_answer import StreamAnswer
from pointsman.gateway.token_join import Telling, prompt_ids
from pointsman.gateway.upstream import Shortcut
from pointsman.gateway.work import Work
from pointsman.wire.http1.heads import response_lines
from pointsman.wire.http1.messages import ResponseHead
from pointsman.wire.openai.account import StreamAccount
from pointsman.wire.openai.chunk import usage_of
from pointsman.wire.openai.delivered import without_ids
from pointsman.wire.openai.errors import error_status, is_error
from pointsman.wire.openai.shapes import Usage
from pointsman.wire.sse import event_data


class IdsStreamAnswer(StreamAnswer):
    """A stream of events. The first ones tell the prompt's ids, all of them those of their text."""

    __slots__ = ("_telling",)

    def __init__(
        self,
        head: ResponseHead,
        reply: Reply,
        request_id: bytes,
        account: StreamAccount,
        progress: Progress,
        strip_usage: bool,
        telling: Telling,
    ) -> None:
        super().__init__(head, reply, request_id, account, progress, strip_usage)
        self._telling: Telling | None = telling

    def take(self, data: bytes) -> None:
        """Raises EventTooLarge."""
        events = self._cutter.feed(data)
        if self._telling is not None:
            self._listen(events)
        see, strip = self._account.see, self._strip_usage
        out = b"".join([without_ids(event) for event in events if not (see(event) and strip)])
        self._hand_on(out, events)

    def shortcut(self) -> Shortcut | None:
        return None

    def _listen(self, events: list[bytes]) -> None:
        for event in events:
            ids = prompt_ids(event_data(event)) if b"prompt_token_ids" in event else b""
            if ids and self._telling is not None:
                self._telling.told(ids)
                self._telling = None


class IdsPlainAnswer(Answer):
    """A whole answer, which waits for its end: only then is it known how long it is without the ids."""

    __slots__ = ("_body", "_head", "_reply", "_request_id", "_telling")

    def __init__(self, head: ResponseHead, reply: Reply, request_id: bytes, telling: Telling) -> None:
        super().__init__()
        self._head = head
        self._reply = reply
        self._request_id = request_id
        self._telling = telling
        self._body = bytearray()

    def take(self, data: bytes) -> None:
        self._body += data

    def end(self) -> Outcome:
        body, status = bytes(self._body), self._head.status
        short = len(body) <= ACCOUNTED_BYTES
        if short and is_error(body):
            self._send(body)
            return ended(verdict_on(error_status(body)), "inband_error", status, Usage())
        ids = prompt_ids(body) if short else b""
        if ids:
            self._telling.told(ids)
        self._send(without_ids(body))
        return ended(verdict_on(status), "done", status, usage_of(body) if short else Usage())

    def cut(self, reason: str) -> Outcome:
        """Nothing of it has reached the client: another node may do better."""
        return Outcome(verdict=verdict_on(502), reason=reason, status=502, delivered=False)

    def _send(self, body: bytes) -> None:
        self._reply.send(response_lines(self._head, self._request_id), body)


def telling_answer(head: ResponseHead, reply: Reply, work: Work, telling: Telling, progress: Progress) -> Answer:
    """What becomes of a good answer to a request that asked for token ids on our behalf."""
    account = work.account()
    if head.is_event_stream and account is not None:
        return IdsStreamAnswer(head, reply, work.id, account, progress, work.strip_usage, telling)
    return IdsPlainAnswer(head, reply, work.id, telling)
