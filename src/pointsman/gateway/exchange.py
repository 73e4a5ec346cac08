"""One request's life in the gateway: placed, tried, answered.

The coroutine owns ticket and lease in one `try/finally`. It sleeps while the request waits in the queue and while a
try is under way; orders and bytes come in as plain calls. When the client leaves, the task is cancelled, and whatever
phase it is in, the same `finally` closes the connection to the node and gives the ticket back.
"""

from __future__ import annotations

import asyncio
import logging

from pointsman.brain.model.errors import NodeFailed, NodeTimeout, PointsmanError
from pointsman.brain.model.orders import Refuse, Start
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.clock import Clock
from pointsman.gateway.answers import Kept
from pointsman.gateway.attempt import Attempt
from pointsman.gateway.deadlines import Deadlines
from pointsman.gateway.driver import Driver
from pointsman.gateway.reply import Reply
from pointsman.gateway.server import ClientConnection
from pointsman.gateway.settings import Timeouts
from pointsman.gateway.targets import Targets
from pointsman.gateway.work import Work

_log = logging.getLogger(__name__)


class Relaying:
    """What all exchanges share."""

    __slots__ = ("clock", "deadlines", "driver", "loop", "targets", "timeouts")

    def __init__(
        self,
        driver: Driver,
        targets: Targets,
        deadlines: Deadlines,
        clock: Clock,
        timeouts: Timeouts,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.driver = driver
        self.targets = targets
        self.deadlines = deadlines
        self.clock = clock
        self.timeouts = timeouts
        self.loop = loop

    def begin(self, work: Work, reply: Reply, connection: ClientConnection) -> Exchange:
        """Start the life of a request."""
        exchange = Exchange(self, work, reply, connection)
        exchange.task = self.loop.create_task(exchange.run())
        return exchange


class Exchange:
    """One request under way."""

    __slots__ = (
        "_attempt",
        "_connection",
        "_ending",
        "_kept",
        "_lease",
        "_order",
        "_paused",
        "_reply",
        "_shared",
        "_waiter",
        "_work",
        "task",
    )

    def __init__(self, shared: Relaying, work: Work, reply: Reply, connection: ClientConnection) -> None:
        self._shared = shared
        self._work = work
        self._reply = reply
        self._connection: ClientConnection | None = connection
        self._order: Start | Refuse | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._attempt: Attempt | None = None
        self._lease = 0
        self._paused = False
        self._kept: Kept | None = None
        self._ending: PointsmanError | None = None
        self.task: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """From submission to the last byte."""
        shared = self._shared
        ticket = 0
        shared.deadlines.watch(self)
        try:
            ticket = shared.driver.submit(self._work.request, self)
            await self._answer(ticket)
        except Exception:
            _log.exception("request %s failed inside the gateway", self._work.id.decode())
            self._give_up(PointsmanError("internal error"))
        finally:
            shared.deadlines.forget(self)
            if ticket:
                shared.driver.close(ticket, self._lease)
        if self._connection is not None:
            self._connection.request_done(self._reply.keep_alive)

    # Orders

    def ordered(self, order: Start | Refuse) -> None:
        self._order = order
        if isinstance(order, Start):
            self._lease = order.lease  # now: the client may leave before the task gets to the order
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def aborted(self, lease: int, why: str) -> None:
        if self._attempt is not None and lease == self._lease:
            self._attempt.settle(Outcome(verdict=Verdict.FAIL, reason=why, status=502, delivered=self._reply.started))

    # The client's connection

    def client_left(self) -> None:
        self._connection = None
        if self._attempt is not None:
            self._attempt.release()  # now: the task is cancelled only when the loop gets to it
        if self.task is not None:
            self.task.cancel()

    def pause(self) -> None:
        self._paused = True
        if self._attempt is not None:
            self._attempt.pause()

    def resume(self) -> None:
        self._paused = False
        if self._attempt is not None:
            self._attempt.resume()

    # Progress of the try under way

    def first_token(self) -> None:
        self._shared.driver.first_token(self._lease)

    def more_tokens(self, count: int) -> None:
        self._shared.driver.tokens(self._lease, count)

    # Time

    def check(self, now: float) -> None:
        """End the request when the client's own limit, or the patience of its try, is over."""
        if now >= self._work.expires:
            self.end(_DEADLINE)
        elif self._attempt is not None and not self._paused:
            self._attempt.check(now)

    def end(self, error: PointsmanError) -> None:
        """End the request, whatever it is at, with `error` for its client: in-band where its answer has begun."""
        self._ending = error
        if self._attempt is not None:
            self._attempt.settle(self._cancelled(error.code))
        else:
            self.ordered(Refuse(0, error))

    async def _answer(self, ticket: int) -> None:
        """Try until the brain has no further order for this request."""
        while True:
            order = await self._next_order()
            if isinstance(order, Refuse):
                self._give_up(order.error)
                return
            outcome = await self._try(order)
            goes_on = self._shared.driver.finished(ticket, order.lease, outcome)
            if outcome.delivered:
                return
            if not goes_on:
                self._give_up(self._ending or _FAILED)
                return

    async def _next_order(self) -> Start | Refuse:
        while self._order is None:
            self._waiter = self._shared.loop.create_future()
            await self._waiter
        order, self._order = self._order, None
        return order

    async def _try(self, order: Start) -> Outcome:
        shared = self._shared
        target = shared.targets.of(order.node)
        attempt = Attempt(self._work, order, target, self._reply, self, shared.clock, shared.timeouts, shared.loop)
        self._attempt = attempt
        try:
            return await attempt.run()
        finally:
            self._attempt = None
            self._kept = attempt.kept or self._kept

    def _cancelled(self, why: str) -> Outcome:
        return Outcome(verdict=Verdict.CANCELLED, reason=why, status=499, delivered=self._reply.started)

    def _give_up(self, error: PointsmanError) -> None:
        """Tell the client: by the node's own error answer if one was held back, else by ours."""
        reply = self._reply
        if reply.started:
            reply.break_off()
        elif self._kept is not None:
            reply.send(self._kept.lines, self._kept.body)
        else:
            reply.refuse(error, self._work.id)


_DEADLINE = NodeTimeout("the time allowed for this request is over")
_FAILED = NodeFailed("the request was stopped before it was answered")
