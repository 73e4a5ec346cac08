"""One request's life in the gateway: placed, tried, answered.

All of it happens in plain calls: orders come from the brain, bytes and endings from the try under way. An exchange owns
its ticket and lease and gives them back in `_end`, which every way out leads through and which does its work once: the
answer is complete, the brain has nothing further for the request, the client leaves, or something breaks inside.
"""

from __future__ import annotations

import asyncio
import logging

from pointsman.brain.model.errors import NodeFailed, NodeTimeout, PointsmanError
from pointsman.brain.model.orders import Refuse, Start
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.clock import Clock
from pointsman.gateway.announcer import Announcer
from pointsman.gateway.attempt import Attempt
from pointsman.gateway.deadlines import Deadlines
from pointsman.gateway.driver import Driver
from pointsman.gateway.kept import Kept
from pointsman.gateway.reply import Reply
from pointsman.gateway.server import ClientConnection
from pointsman.gateway.settings import Timeouts
from pointsman.gateway.splice import Splice
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

    def begin(self, work: Work, reply: Reply, connection: ClientConnection) -> Exchange | None:
        """Start the life of a request; None when it is over already, refused by the brain."""
        exchange = Exchange(self, work, reply)
        exchange.submit()
        if exchange.over:
            return None
        exchange.connection = connection
        if work.tells_progress:
            exchange.tell_progress(self.clock.now())
        return exchange


class Exchange:
    """One request under way, to do `work`. `connection` is told of its end, unless that came before it was set."""

    __slots__ = (
        "_announcer",
        "_attempt",
        "_ending",
        "_kept",
        "_lease",
        "_paused",
        "_reply",
        "_shared",
        "_splice",
        "_ticket",
        "connection",
        "over",
        "work",
    )

    def __init__(self, shared: Relaying, work: Work, reply: Reply) -> None:
        self._shared = shared
        self.work = work
        self._reply = reply
        self._splice = Splice(work, work.asked, reply) if work.asked is not None else None
        self._announcer: Announcer | None = None
        self._attempt: Attempt | None = None
        self._ticket = 0
        self._lease = 0
        self._paused = False
        self._kept: Kept | None = None
        self._ending: PointsmanError | None = None
        self.connection: ClientConnection | None = None
        self.over = False

    def submit(self) -> None:
        """Hand the request to the brain, whose order may come at once or later."""
        shared = self._shared
        shared.deadlines.watch(self)
        try:
            self._ticket = shared.driver.submit(self.work.request, self)
        except Exception:
            self.broken()

    # Orders

    def ordered(self, order: Start | Refuse) -> None:
        self._ticket = order.ticket
        if isinstance(order, Refuse):
            self._give_up(order.error)
            return
        self._lease = order.lease
        try:
            self._try(order)
        except Exception:
            self.broken()

    def aborted(self, lease: int, why: str) -> None:
        if self._attempt is not None and lease == self._lease:
            self._attempt.abort(why)

    def interrupted(self, lease: int, why: str, *, spares: bool) -> None:
        if self._attempt is not None and lease == self._lease and not (spares and self._stuck):
            self._attempt.interrupt(why)

    # The client's connection

    def client_left(self) -> None:
        self.connection = None
        self._end()

    def pause(self) -> None:
        self._paused = True
        if self._attempt is not None:
            self._attempt.pause()

    def resume(self) -> None:
        self._paused = False
        if self._attempt is not None:
            self._attempt.resume()

    # The try under way

    def first_token(self) -> None:
        self._shared.driver.first_token(self._lease)

    def more_tokens(self, count: int) -> None:
        self._shared.driver.tokens(self._lease, count)

    def tried(self, outcome: Outcome, kept: Kept | None) -> None:
        """The try ended. The brain may have ordered another one by the time it has taken note.

        A spliced stream whose rest nobody is asked for still lacks its end.
        """
        self._attempt = None
        self._kept = kept or self._kept
        try:
            goes_on = self._shared.driver.finished(self._ticket, self._lease, outcome)
        except Exception:
            self.broken()
            return
        if goes_on:
            return
        if self._splice is not None and self._splice.open:
            self._give_up(self._ending or NodeFailed(f"the answer was cut ({outcome.reason})"))
        elif outcome.delivered:
            self._end()
        else:
            self._give_up(self._ending or _FAILED)

    def broken(self) -> None:
        _log.exception("request %s failed inside the gateway", self.work.id.decode())
        self._give_up(PointsmanError("internal error"))

    # Time

    def check(self, now: float) -> None:
        """End the request when the client's own limit, or the patience of its try, is over."""
        if now >= self.work.expires:
            self.end(_DEADLINE)
        elif self._paused:
            return
        elif self._attempt is not None:
            self._attempt.check(now)
        elif self.work.tells_progress:
            self.tell_progress(now)

    def tell_progress(self, now: float) -> None:
        """Tell the client, who asked for it, where it stands, if it waits."""
        standing = self._shared.driver.waits(self._ticket)
        if standing is None:
            return
        if self._announcer is None:
            account = self.work.account()
            assert account is not None, "only streams whose events are known can be told of"
            self._announcer = Announcer(self._reply, self.work.id, account.last_words)
        self._announcer.tell(standing, now)

    def end(self, error: PointsmanError) -> None:
        """End the request, whatever it is at, with `error` for its client: in-band where its answer has begun."""
        self._ending = error
        if self._attempt is not None:
            self._attempt.settle(self._cancelled(error.code), error)
        else:
            self._give_up(error)

    @property
    def _stuck(self) -> bool:
        """Whether the client has a part of its answer whose rest no other node can be asked for."""
        return self._reply.started and not (self._splice is not None and self._splice.goes_on)

    def _try(self, order: Start) -> None:
        shared, splice = self._shared, self._splice
        work = self.work if splice is None else splice.work()
        target = shared.targets.of(order.node)
        self._attempt = Attempt(
            work, order, target, self._reply, self, shared.clock, shared.timeouts, shared.loop, splice
        )
        if self._paused:
            self._attempt.pause()
        self._attempt.start()

    def _cancelled(self, why: str) -> Outcome:
        return Outcome(verdict=Verdict.CANCELLED, reason=why, status=499, delivered=self._reply.started)

    def _give_up(self, error: PointsmanError) -> None:
        """Tell the client, by the node's own error answer if one was held back, else by ours; then end."""
        if self.over:
            return
        reply = self._reply
        if self._splice is not None and self._splice.open:
            self._splice.break_off(error)
        elif reply.started:
            reply.break_off()
        elif self._kept is not None:
            reply.send(self._kept.lines, self._kept.body)
        else:
            reply.refuse(error, self.work.id)
        self._end()

    def _end(self) -> None:
        """Let go of the node, the lease and the ticket, and of the client's connection."""
        if self.over:
            return
        self.over = True
        shared = self._shared
        shared.deadlines.forget(self)
        attempt, self._attempt = self._attempt, None
        connection, self.connection = self.connection, None
        try:
            if attempt is not None:
                attempt.release()
            shared.driver.close(self._ticket, self._lease)
        finally:
            if connection is not None:
                connection.request_done(self._reply.keep_alive)


_DEADLINE = NodeTimeout("the time allowed for this request is over")
_FAILED = NodeFailed("the request was stopped before it was answered")
