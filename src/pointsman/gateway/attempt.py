"""One try of a request on one node, from the connection to the outcome.

A try ends in exactly one way: the response is complete, the node fails, patience runs out, or whoever owns the try
settles it. `_end` then lets go of the connection and tells the owner. Only opening a connection takes a task; a request
for which there is a kept one is on its way when `start` returns.
"""

import asyncio
from typing import Final, Protocol

from msgspec import structs

from pointsman.brain.model.errors import PointsmanError
from pointsman.brain.model.orders import Start
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.clock import Clock
from pointsman.gateway.answers import HELD_BACK, Answer, KeptAnswer, PlainAnswer, Progress
from pointsman.gateway.ids_answer import telling_answer
from pointsman.gateway.kept import Kept
from pointsman.gateway.reply import Reply
from pointsman.gateway.settings import Timeouts
from pointsman.gateway.splice import Splice
from pointsman.gateway.stream_answer import StreamAnswer
from pointsman.gateway.targets import Target, chain_line
from pointsman.gateway.upstream import NO_SOCKET, ConnectFailed, Shortcut, UpstreamConnection, UpstreamSink
from pointsman.gateway.work import Work
from pointsman.wire.http1.heads import request_head
from pointsman.wire.http1.messages import ResponseHead
from pointsman.wire.sse import EventTooLarge

END_AWAITED_S = 0.05
"""How long the end of a body is awaited after `[DONE]`. It comes in a packet of its own, and with it the connection."""
_NEVER: Final = float("inf")


class Owner(Progress, Protocol):
    """Whose try it is."""

    def tried(self, outcome: Outcome, kept: Kept | None) -> None:
        """The try ended; `kept` is the node's error answer that was held back, if there was one."""
        ...

    def broken(self) -> None:
        """To be called where an exception was caught that should not be: nothing good comes of this request."""
        ...


class Attempt(UpstreamSink):
    """Sends `work` to `target`, and what comes back to `reply`. The owner hears of its end unless it released it.

    With a `splice` the stream that comes back is a part of the client's, which may have begun.
    """

    __slots__ = (
        "_answer",
        "_connecting",
        "_connection",
        "_deadline",
        "_lines",
        "_loop",
        "_now",
        "_over",
        "_owner",
        "_paused",
        "_reply",
        "_splice",
        "_target",
        "_timeouts",
        "_work",
    )

    def __init__(
        self,
        work: Work,
        order: Start,
        target: Target,
        reply: Reply,
        owner: Owner,
        clock: Clock,
        timeouts: Timeouts,
        loop: asyncio.AbstractEventLoop,
        splice: Splice | None = None,
    ) -> None:
        self._loop = loop
        self._work = work
        self._splice = splice
        self._target = target
        self._lines = target.lines
        if order.node.residency == "commanded" and (chain := work.request.chain) is not None:
            self._lines += chain_line(order.node, chain.links)
        self._reply = reply
        self._owner = owner
        self._now = clock.now
        self._timeouts = timeouts
        self._answer: Answer | None = None
        self._connection: UpstreamConnection | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._over = False
        self._paused = False
        self._deadline = self._now() + order.first_token_s if work.request.stream else _NEVER

    def start(self) -> None:
        """Send the request, on a fresh connection where none is kept."""
        connection = self._target.pool.take()
        if connection is None:
            self._connecting = self._loop.create_task(self._connect())
        else:
            self._send(connection)

    def settle(self, outcome: Outcome, error: PointsmanError) -> None:
        """End the try from outside; what the client already has is ended by `error`."""
        if not self._over and self._answer is not None and self._reply.started:
            if self._connection is not None:
                self._connection.tell_passed()
            self._answer.end_by(error)
        self._end(outcome)

    def abort(self, why: str) -> None:
        """End the try from outside as if its node had failed."""
        self._fail(why)

    def interrupt(self, why: str) -> None:
        """End the try from outside although its node does well."""
        if not self._over:
            cut = self._cut(why)
            self._end(structs.replace(cut, verdict=Verdict.INTERRUPTED) if cut.verdict is Verdict.FAIL else cut)

    def release(self) -> None:
        """Let go of the node at once; its answer is over or nobody wants it any more."""
        connection, self._connection = self._connection, None
        if self._answer is not None and not self._over:
            if connection is not None:
                connection.tell_passed()
            self._answer.tell_rest()
        self._over = True
        if connection is not None:
            connection.close()
        if self._connecting is not None:
            self._connecting.cancel()

    def pause(self) -> None:
        self._paused = True
        if self._connection is not None:
            self._connection.pause()

    def resume(self) -> None:
        self._paused = False
        if self._connection is not None:
            self._connection.heard = True  # the silence was ours
            self._connection.resume()

    def check(self, now: float) -> None:
        """Give up when the node has been silent for too long."""
        connection = self._connection
        if connection is not None and connection.heard:
            connection.heard = False
            self._target.pool.heard_at = now
            if self._reply.started:  # until then, as with a role alone, it is the first token that is waited for
                self._deadline = now + self._timeouts.between_tokens_s
        if now >= self._deadline:
            self._fail("token_timeout" if self._reply.started else "first_token_timeout")

    async def _connect(self) -> None:
        try:
            connection = await self._target.pool.connect()
            self._connecting = None
            self._send(connection)
        except ConnectFailed as failure:
            self._connecting = None
            self._end(self._unanswered(failure.reason, free=True))
        except Exception:
            self._owner.broken()

    def _send(self, connection: UpstreamConnection) -> None:
        self._connection = connection
        work = self._work
        head = request_head(work.head, self._target.prefix, self._lines, work.id, len(work.body))
        connection.send(self, head, work.body)
        if self._paused:
            connection.pause()

    # The connection's callbacks

    def on_response_head(self, head: ResponseHead, length: int | None) -> None:
        work, splice = self._work, self._splice
        if splice is not None and (splice.continues or (head.status == 200 and head.is_event_stream)):
            self._answer = splice.answer(head, self._owner)
        elif head.status in HELD_BACK:
            self._answer = KeptAnswer(head, work.id)
            self._deadline = min(self._deadline, self._now() + self._timeouts.between_tokens_s)
        elif work.telling is not None and head.status == 200:
            self._answer = telling_answer(head, self._reply, work, work.telling, self._owner)
        elif head.is_event_stream and (account := work.account()) is not None:
            self._answer = StreamAnswer(head, self._reply, work.id, account, self._owner, work.strip_usage)
        elif self._reply.promised:
            self._answer = KeptAnswer(head, work.id)
        else:
            self._answer = PlainAnswer(head, length, self._reply, work.id, speaks=work.events != "unread")

    def shortcut(self) -> Shortcut | None:
        return None if self._answer is None else self._answer.shortcut()

    def on_passed(self, count: int) -> None:
        if self._answer is not None:
            self._answer.passed(count)

    def on_response_body(self, data: bytes, *, last: bool) -> None:
        answer = self._answer
        if answer is None:
            return
        if last:
            self._reply.gather()
        try:
            answer.take(data)
        except EventTooLarge:
            self._fail("garbage")
        if answer.over and not last:
            self._loop.call_later(END_AWAITED_S, self._end_before_the_node, answer)

    def on_complete(self) -> None:
        self._connection = None
        if self._answer is not None and not self._over:
            self._end(self._answer.end())

    def on_lost(self, reason: str, *, stale: bool) -> None:
        self._connection = None
        if stale and self._answer is None:  # the kept connection was dead: that says nothing about the node
            self._connecting = self._loop.create_task(self._connect())
        else:
            self._fail(reason)

    def _end_before_the_node(self, answer: Answer) -> None:
        """All was said: the client need not wait for a node that does not end its body."""
        if not self._over:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.see_out()
            self._end(answer.end())

    def _fail(self, reason: str) -> None:
        if not self._over:
            self._end(self._cut(reason))

    def _cut(self, reason: str) -> Outcome:
        return self._answer.cut(reason) if self._answer else self._unanswered(reason)

    def _unanswered(self, reason: str, *, free: bool = False) -> Outcome:
        """No response has begun; the client's answer may have, on another node."""
        outcome = _failed(reason, free=free)
        if self._splice is not None and self._splice.continues:
            return self._splice.lost(outcome.verdict, reason, outcome.status)
        return outcome

    def _end(self, outcome: Outcome) -> None:
        if not self._over:
            self.release()
            self._owner.tried(outcome, self._answer.kept if self._answer else None)


def _failed(reason: str, *, free: bool = False) -> Outcome:
    verdict = Verdict.BUSY if reason == NO_SOCKET else Verdict.FAIL
    status = 504 if reason.endswith("timeout") else 502
    return Outcome(verdict=verdict, reason=reason, status=status, delivered=False, free=free)
