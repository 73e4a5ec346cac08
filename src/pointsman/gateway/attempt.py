"""One try of a request on one node, from the connection to the outcome.

Bytes go through callbacks; the coroutine only waits for `_done`. A try ends in exactly one way: the response is
complete, the node fails, patience runs out, or whoever owns the try settles it. `run` then lets go of the connection.
"""

import asyncio

from pointsman.brain.model.orders import Start
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.clock import Clock
from pointsman.gateway.answers import HELD_BACK, Answer, Kept, KeptAnswer, PlainAnswer, Progress
from pointsman.gateway.reply import Reply
from pointsman.gateway.settings import Timeouts
from pointsman.gateway.stream_answer import StreamAnswer
from pointsman.gateway.targets import Target
from pointsman.gateway.upstream import ConnectFailed, UpstreamConnection
from pointsman.gateway.work import Work
from pointsman.wire.http1.heads import request_head
from pointsman.wire.http1.response import ResponseHead
from pointsman.wire.sse import EventTooLarge


class Attempt:
    """Sends `work` to `target`, and what comes back to `reply`."""

    __slots__ = (
        "_answer",
        "_clock",
        "_connection",
        "_deadline",
        "_done",
        "_heard",
        "_loop",
        "_progress",
        "_reply",
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
        progress: Progress,
        clock: Clock,
        timeouts: Timeouts,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._loop = loop
        self._work = work
        self._target = target
        self._reply = reply
        self._progress = progress
        self._clock = clock
        self._timeouts = timeouts
        self._done: asyncio.Future[Outcome | None] = loop.create_future()
        self._answer: Answer | None = None
        self._connection: UpstreamConnection | None = None
        self._heard = False
        self._deadline = clock.now() + order.first_token_s if work.request.stream else float("inf")

    @property
    def kept(self) -> Kept | None:
        """The node's error answer that was held back, if there was one."""
        return self._answer.kept if self._answer else None

    async def run(self) -> Outcome:
        """Try, and say how it ended. Cancelling closes the connection to the node at once."""
        try:
            outcome = await self._send(self._target.pool.take())
            if outcome is None:  # the kept connection was dead: that says nothing about the node
                self._done = self._loop.create_future()
                outcome = await self._send(None)
            return outcome or _failed("reset")
        except ConnectFailed as failure:
            if self._done.done():
                return self._done.result() or _failed(failure.reason)
            return _failed(failure.reason, free=True)
        finally:
            self.release()

    def settle(self, outcome: Outcome) -> None:
        """End the try from outside; what the client already has is ended as a cut answer."""
        if not self._done.done():
            if self._answer is not None and self._reply.started:
                self._answer.cut(outcome.reason)
            self._done.set_result(outcome)
            self.release()

    def release(self) -> None:
        """Let go of the node at once; its answer is over or nobody wants it any more."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def pause(self) -> None:
        if self._connection is not None:
            self._connection.pause()

    def resume(self) -> None:
        self._heard = True  # the silence was ours
        if self._connection is not None:
            self._connection.resume()

    def check(self, now: float) -> None:
        """Give up when the node has been silent for too long."""
        if self._heard:
            self._heard = False
            if self._reply.started:  # until then, as with a role alone, it is the first token that is waited for
                self._deadline = now + self._timeouts.between_tokens_s
        if now >= self._deadline:
            self._fail("token_timeout" if self._reply.started else "first_token_timeout")

    async def _send(self, connection: UpstreamConnection | None) -> Outcome | None:
        if connection is None:
            connection = await self._target.pool.connect()
        if self._done.done():
            connection.close()
        else:
            self._connection = connection
            work = self._work
            head = request_head(work.head, self._target.prefix, self._target.lines, work.id, len(work.body))
            connection.send(self, head, work.body)
        return await self._done

    # The connection's callbacks

    def on_response_head(self, head: ResponseHead) -> None:
        work = self._work
        if head.status in HELD_BACK:
            self._answer = KeptAnswer(head, work.id)
            self._deadline = min(self._deadline, self._clock.now() + self._timeouts.between_tokens_s)
        elif head.is_event_stream and (account := work.account()) is not None:
            self._answer = StreamAnswer(head, self._reply, work.id, account, self._progress, work.strip_usage)
        else:
            self._answer = PlainAnswer(head, self._reply, work.id)

    def on_response_body(self, data: bytes) -> None:
        self._heard = True
        answer = self._answer
        if answer is None:
            return
        try:
            answer.take(data)
        except EventTooLarge:
            self._fail("garbage")

    def on_complete(self) -> None:
        self._connection = None
        if self._answer is not None and not self._done.done():
            self._done.set_result(self._answer.end())

    def on_lost(self, reason: str, *, stale: bool) -> None:
        self._connection = None
        if self._done.done():
            return
        if stale and self._answer is None:
            self._done.set_result(None)
        else:
            self._fail(reason)

    def _fail(self, reason: str) -> None:
        if not self._done.done():
            self._done.set_result(self._answer.cut(reason) if self._answer else _failed(reason))
        self.release()


def _failed(reason: str, *, free: bool = False) -> Outcome:
    status = 504 if reason.endswith("timeout") else 502
    return Outcome(verdict=Verdict.FAIL, reason=reason, status=status, delivered=False, free=free)
