"""Executes the brain's orders. Everything here is synchronous and runs on the loop.

Any call into the brain may return orders for other requests, since whatever frees room lets a waiting one start. So
all calls go through this object: it finds whom each order concerns, and wakes the brain when it asked to be woken.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from pointsman.brain.model.commands import Obeyed
from pointsman.brain.model.errors import PointsmanError
from pointsman.brain.model.kv_events import CacheChange
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.orders import Abort, Instruct, Order, Probe, Refuse, Start, Tell, Wait, Warm
from pointsman.brain.model.outcome import CANCELLED, Outcome
from pointsman.brain.model.reports import ClientReport, NodeReport
from pointsman.brain.model.request import Request
from pointsman.brain.model.sharing import PeerReport, Share
from pointsman.brain.model.standing import Standing
from pointsman.clock import Clock
from pointsman.gateway.work import Work

WAKE_GRAIN_S: Final = 0.005
"""The brain is woken up to this much late, so that thousands of small deadlines a second share their alarms."""

_TICKET_ORDERS: Final = (Start, Wait, Refuse)


class Party(Protocol):
    """A request under way, as orders meet it."""

    def ordered(self, order: Start | Refuse) -> None: ...

    def aborted(self, lease: int, why: str) -> None: ...

    def interrupted(self, lease: int, why: str, *, spares: bool) -> None: ...

    def end(self, error: PointsmanError) -> None: ...

    @property
    def work(self) -> Work: ...


class Brain(Protocol):
    """What is driven: a dispatcher, or what stands in front of one and writes down what it is told."""

    def submit(self, request: Request, now: float) -> list[Order]: ...

    def cancel(self, ticket_id: int, now: float) -> list[Order]: ...

    def first_token(self, lease_id: int, now: float) -> list[Order]: ...

    def tokens(self, lease_id: int, count: int, now: float) -> list[Order]: ...

    def finished(self, lease_id: int, outcome: Outcome, now: float) -> list[Order]: ...

    def report(self, report: NodeReport, now: float) -> list[Order]: ...

    def kv_event(self, change: CacheChange, now: float) -> list[Order]: ...

    def feedback(self, report: ClientReport, now: float) -> list[Order]: ...

    def warmed(self, warm: int, ok: bool, now: float) -> list[Order]: ...

    def obeyed(self, report: Obeyed, now: float) -> list[Order]: ...

    def share(self, now: float) -> list[Order]: ...

    def hear(self, report: PeerReport, now: float) -> list[Order]: ...

    def tick(self, now: float) -> list[Order]: ...

    def next_deadline(self) -> float | None: ...

    def knows(self, model: str) -> bool: ...

    def models(self) -> list[str]: ...

    def available(self) -> int: ...

    def standing(self) -> str: ...

    def waits(self, ticket_id: int, at: float) -> Standing | None: ...


class Driver:
    """Between the brain and what it orders about.

    `tell` takes what other gateways are to know, `warm` orders to warm a node, with the work they name if it is open,
    `instruct` those to tell an engine what to do with its cache.
    """

    def __init__(
        self,
        dispatcher: Brain,
        clock: Clock,
        loop: asyncio.AbstractEventLoop,
        probe: Callable[[NodeSpec], None],
    ) -> None:
        self.dispatcher = dispatcher
        self._now = clock.now
        self._loop = loop
        self._probe = probe
        self._parties: dict[int, Party] = {}
        self._leases: dict[int, Party] = {}
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_due = float("inf")
        self.tell: Callable[[Share], object] = _nobody
        self.warm: Callable[[Warm, Work | None], object] = self._not_warmed
        self.instruct: Callable[[Instruct], object] = self._not_obeyed

    @property
    def open_requests(self) -> int:
        """Requests submitted and not over."""
        return len(self._parties)

    def submit(self, request: Request, party: Party) -> int:
        """Hand a request to the brain; returns its ticket. The answer reaches `party`, perhaps before this returns."""
        orders = self.dispatcher.submit(request, self._now())
        first = orders[0]
        assert isinstance(first, _TICKET_ORDERS)
        self._parties[first.ticket] = party
        self.execute(orders)
        return first.ticket

    def close(self, ticket: int, lease: int) -> None:
        """The request is over, whatever the brain thinks of it; harmless when the brain knows."""
        self._leases.pop(lease, None)
        if self._parties.pop(ticket, None) is not None:
            self.execute(self.dispatcher.cancel(ticket, self._now()))

    def first_token(self, lease: int) -> None:
        self.execute(self.dispatcher.first_token(lease, self._now()))

    def tokens(self, lease: int, count: int) -> None:
        self.execute(self.dispatcher.tokens(lease, count, self._now()))

    def finished(self, ticket: int, lease: int, outcome: Outcome) -> bool:
        """A try ended; tells whether the brain has something further for its request, now or later."""
        self._leases.pop(lease, None)
        orders = self.dispatcher.finished(lease, outcome, self._now())
        self.execute(orders)
        for order in orders:
            if isinstance(order, _TICKET_ORDERS) and order.ticket == ticket:
                return True
        self._parties.pop(ticket, None)
        return False

    def waits(self, ticket: int) -> Standing | None:
        """Where a ticket stands that waits; None for any other."""
        return self.dispatcher.waits(ticket, self._now())

    def report(self, report: NodeReport) -> None:
        self.execute(self.dispatcher.report(report, self._now()))

    def kv_event(self, change: CacheChange) -> None:
        """A node told how its cache changed."""
        self.execute(self.dispatcher.kv_event(change, self._now()))

    def warmed(self, warm: int, ok: bool) -> None:
        """A warm-up ended, `ok` if its node computed it."""
        self.execute(self.dispatcher.warmed(warm, ok, self._now()))

    def obeyed(self, report: Obeyed) -> None:
        """An instruction to an engine ended."""
        self.execute(self.dispatcher.obeyed(report, self._now()))

    def call(self, action: Callable[[float], Sequence[Order]]) -> None:
        """Any other call into the brain: `action(now)` returns its orders."""
        self.execute(action(self._now()))

    def execute(self, orders: Sequence[Order]) -> None:
        """Carry out orders, and see when the brain wants to be woken next."""
        for order in orders:
            self._execute(order)
        due = self.dispatcher.next_deadline()
        if due is not None and due < self._alarm_due - WAKE_GRAIN_S:
            self._set_alarm(due)

    def end_all(self, error: PointsmanError) -> None:
        """Tell every client that its request ends here."""
        for party in tuple(self._parties.values()):
            party.end(error)

    def stop(self) -> None:
        """Wake the brain no more."""
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm_due = float("-inf")

    def _execute(self, order: Order) -> None:
        if isinstance(order, Start):
            self._start(order)
        elif isinstance(order, Refuse):
            party = self._parties.get(order.ticket)
            if party is not None:
                party.ordered(order)
        elif isinstance(order, Probe):
            self._probe(order.node)
        elif isinstance(order, Abort):
            self._abort(order)
        elif isinstance(order, Instruct):
            self.instruct(order)
        elif isinstance(order, Tell):
            self.tell(order.share)
        elif isinstance(order, Warm):
            party = self._parties.get(order.ticket)
            self.warm(order, None if party is None else party.work)

    def _start(self, order: Start) -> None:
        party = self._parties.get(order.ticket)
        if party is None:
            self.finished(order.ticket, order.lease, CANCELLED)
            return
        self._leases[order.lease] = party
        party.ordered(order)

    def _abort(self, order: Abort) -> None:
        party = self._leases.get(order.lease)
        if party is None:
            self.finished(0, order.lease, CANCELLED)
        elif order.interrupts:
            party.interrupted(order.lease, order.why, spares=order.spares)
        else:
            party.aborted(order.lease, order.why)

    def _not_obeyed(self, order: Instruct) -> None:
        """There is nobody to do it."""
        self.obeyed(Obeyed(number=order.number, ok=False, reason="nobody to tell the engine"))

    def _not_warmed(self, order: Warm, _work: Work | None) -> None:
        """There is nobody to do it."""
        self.warmed(order.warm, False)

    def _set_alarm(self, due: float) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm_due = due
        self._alarm = self._loop.call_later(max(WAKE_GRAIN_S, due - self._now()), self._wake)

    def _wake(self) -> None:
        self._alarm = None
        self._alarm_due = float("inf")
        self.execute(self.dispatcher.tick(self._now()))


def _nobody(_share: Share) -> None:
    """There are no other gateways to be told."""
