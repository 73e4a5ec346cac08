"""Takes requests off a node: what hangs on one that is down, no faster than retries are allowed, or on our own wish.

A node that stops without closing its connections leaves requests behind that nothing would end: of plain ones not even
a first token is awaited. All of them at once would exceed the budget for retries, and fail for that. So they are
aborted as the budget has room; what is left after some time is aborted anyway, to fail rather than wait. A stream that
has begun and can go on elsewhere is interrupted at once, where a node is up that could take it.

An interruption on our own wish asks no budget, and is for those who have not been interrupted too often already.
"""

from collections.abc import Mapping, Sized

from pointsman.brain.agenda import Agenda
from pointsman.brain.fleet import Fleet
from pointsman.brain.lease import Lease
from pointsman.brain.life.resume import may_interrupt
from pointsman.brain.life.retry import RetryBudget
from pointsman.brain.model.node import NodeState
from pointsman.brain.model.orders import Abort, Order

STEP_SECONDS = 0.1
"""Between two looks at the budget: most requests that a node left behind take longer elsewhere."""
MOST_SECONDS = 30.0
"""Of waiting for room in the budget, about the first token of one's own patience."""


class Evacuation:
    """Puts aborts in `out`. `leases` and `tickets` are those open."""

    def __init__(
        self,
        fleet: Fleet,
        leases: Mapping[int, Lease],
        tickets: Sized,
        retries: RetryBudget,
        agenda: Agenda,
        out: list[Order],
    ) -> None:
        self._fleet = fleet
        self._leases = leases
        self._tickets = tickets
        self._retries = retries
        self._agenda = agenda
        self._out = out
        self._began: dict[int, float] = {}

    def begin(self, row: int, now: float, *, silent: bool) -> None:
        """The node at `row` is down and did not answer its probe; if `silent`, nothing else comes from it either."""
        if silent:
            self._rescue(row)
        if row not in self._began:
            self._began[row] = now
            self._step(row, now)

    def interrupt(self, lease_id: int, why: str, *, spares: bool = False) -> None:
        """Take one lease off its node. One that is unknown, or whose request must be left alone, stays as it is."""
        lease = self._leases.get(lease_id)
        if lease is not None and may_interrupt(lease.ticket.losses):
            self._out.append(Abort(lease.id, why, interrupts=True, spares=spares))

    def ask(self, lease_id: int, why: str) -> None:
        """The same, unless that would end the answer."""
        self.interrupt(lease_id, why, spares=True)

    def empty_at(self, row: int, due: float) -> None:
        """Interrupt what the node at `row` still has then, if it is drained."""
        self._agenda.add(due, self._empty, (row, self._fleet.generation[row]))

    def _empty(self, whose: tuple[int, int], now: float) -> None:  # noqa: ARG002 - called by the agenda
        row, generation = whose
        if self._fleet.generation[row] == generation and self._fleet.states[row] is NodeState.DRAINING:
            for lease in [lease.id for lease in self._leases.values() if lease.row == row]:
                self.interrupt(lease, "drain")

    def _rescue(self, row: int) -> None:
        for lease in self._leases.values():
            ticket = lease.ticket
            begun = lease.row == row and lease.first_at is not None
            if begun and ticket.request.resumable and may_interrupt(ticket.losses) and self._elsewhere(lease):
                self._out.append(Abort(lease.id, "node_down", interrupts=True, spares=True))

    def _elsewhere(self, lease: Lease) -> bool:
        """Whether another node is up that has not failed the lease's request."""
        fleet, ticket = self._fleet, lease.ticket
        others = (row for row in fleet.serves(ticket.request.model) if row != lease.row)
        return any(fleet.states[row] is NodeState.UP and fleet.spec(row).name not in ticket.excluded for row in others)

    def _step(self, row: int, now: float) -> None:
        stuck = []
        if self._fleet.states[row] is NodeState.DOWN:
            stuck = [lease.id for lease in self._leases.values() if lease.row == row and lease.first_at is None]
        room = self._retries.room(len(self._tickets)) if now - self._began[row] < MOST_SECONDS else len(stuck)
        self._out.extend(Abort(lease, "node_down") for lease in stuck[:room])
        if len(stuck) > room:
            self._agenda.add(now + STEP_SECONDS, self._step, row)
        else:
            del self._began[row]
