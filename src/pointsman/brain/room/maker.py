"""Makes room for requests that wait because they fit nowhere, by taking others off their nodes.

Who is taken off is asked by an order to go on elsewhere; the room comes when its driver has confirmed that, and is kept
meanwhile for whom it is made. Off, this is one question where a request could not be placed.
"""

from collections.abc import Callable, Mapping, Sequence

from pointsman.brain.fleet import Fleet
from pointsman.brain.lease import Lease, Ticket
from pointsman.brain.life.resume import DEFRAGMENTED, EMPTIED, PREEMPTED
from pointsman.brain.model.facts import Emptied, RoomMade
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.observers import Observers
from pointsman.brain.placement import Placement
from pointsman.brain.room.claims import CLAIM_SECONDS, Claims
from pointsman.brain.room.emptying import Emptier
from pointsman.brain.room.gathering import Gatherer
from pointsman.brain.room.plan import Plan, Planner


class Maker:
    """`interrupt(lease, why)` asks a lease to leave its node if its stream can go on elsewhere."""

    def __init__(
        self,
        settings: BrainSettings,
        fleet: Fleet,
        placement: Placement,
        leases: Mapping[int, Lease],
        interrupt: Callable[[int, str], None],
        tell: Observers,
    ) -> None:
        self._fleet = fleet
        self._leases = leases
        self._swapping = placement.swapping
        self._interrupt = interrupt
        self._tell = tell
        self.claims = Claims(fleet, placement.pool)
        self.planner = Planner(settings, fleet, placement, leases)
        self.gatherer = Gatherer(fleet, placement, self.planner, leases)
        self.emptier = Emptier(fleet, placement, self.planner, self.gatherer, leases)
        self.configure(settings)

    def configure(self, settings: BrainSettings) -> None:
        """Go by `settings` from now on; room that is being made is still for whom it was."""
        self._preempts = settings.preemption == "on"
        self._gathers = settings.defragmentation == "on"
        self.on = self._preempts or self._gathers
        self.planner.configure(settings)

    def for_one_of(self, tickets: Sequence[Ticket], now: float) -> None:
        """Make room for the most urgent of these, the earlier of equals, if others are less urgent or fit elsewhere.

        They are in the order in which they would be placed, and could not be.
        """
        ticket = self.first(tickets)
        plan = self.gatherer.plan(ticket, now) if ticket is not None and self._gathers else None
        cause = DEFRAGMENTED
        if plan is None and ticket is not None and self._preempts:
            plan, cause = self.planner.preempting(ticket, now), PREEMPTED
        if plan is not None and ticket is not None:
            self.carry_out(plan, ticket, cause, now)

    def first(self, tickets: Sequence[Ticket]) -> Ticket | None:
        """The most urgent of those for whom no room is being made."""
        return max((ticket for ticket in tickets if ticket.id not in self.claims), key=_priority, default=None)

    def carry_out(self, plan: Plan, ticket: Ticket, cause: str, now: float) -> None:
        """Ask those to leave, and keep their room for the ticket."""
        self.planner.ask(plan, now)
        self.claims.make(ticket, plan.row, now + CLAIM_SECONDS)
        for lease in plan.leases:
            if cause == PREEMPTED and self.planner.swaps(self._leases[lease]):
                self._swapping.out(self._leases[lease], cause)
            else:
                self._interrupt(lease, cause)
        node = self._fleet.spec(plan.row).name
        self._tell(RoomMade(now, ticket.id, ticket.request, node, cause, plan.leases, plan.blocks, plan.seconds))

    def empty(self, plan: Plan, model: str, now: float) -> None:
        """Ask all to leave a node, so that its memory is free in one piece for requests for `model`."""
        self.planner.ask(plan, now)
        for lease in plan.leases:
            self._interrupt(lease, EMPTIED)
        node = self._fleet.spec(plan.row).name
        self._tell(Emptied(now, model, node, plan.leases, plan.blocks, plan.seconds))

    def redeem(self, ticket: Ticket, now: float, place: Callable[[Ticket, float], object]) -> bool:
        """Have `place` place a ticket that has a claim, if its room is there; whether it is waiting no longer."""
        claim = self.claims.lift(ticket.id)
        spot = next((spot for spot in self.planner.spots(ticket) if spot.row == claim.row), None)
        placed = spot is not None and self.planner.fits(spot, ()) and place(ticket, now) is not None
        if not placed:
            self.claims.make(ticket, claim.row, claim.until)
        return placed


def _priority(ticket: Ticket) -> float:
    return ticket.request.priority
