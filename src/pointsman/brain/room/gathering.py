"""Free memory that lies scattered over the fleet, gathered on one node for a request that fits on none.

Strategy: a question, which mutates nothing. Where the free blocks of all nodes together would do for the request and
those of no single one do, streams are moved: of each node the cheapest ones that have a place on another, until the
request would fit. Nodes are tried from the one with the least live memory on. A plan is worth it if to compute the
moved streams again takes fewer seconds than the request would otherwise wait: until enough of what runs on some node
has ended at its present pace.
"""

from collections.abc import Mapping, Sequence
from math import inf

from pointsman.brain.fleet import Fleet
from pointsman.brain.lease import Lease, Ticket
from pointsman.brain.placement import Placement
from pointsman.brain.room.plan import Plan, Planner, Spot, least


class Gatherer:
    """Mutates nothing. `leases` are those open."""

    def __init__(self, fleet: Fleet, placement: Placement, planner: Planner, leases: Mapping[int, Lease]) -> None:
        self._fleet = fleet
        self._placement = placement
        self._planner = planner
        self._leases = leases

    def plan(self, ticket: Ticket, now: float) -> Plan | None:
        """Which streams to move so that `ticket` fits; None if it fits anyway, if none do, or if it costs too much."""
        planner = self._planner
        spots, leaving = planner.spots(ticket), planner.leaving(now)
        if not spots or any(planner.fits(spot, leaving[spot.row]) for spot in spots):
            return None
        free = self._free(leaving)
        if sum(free.get(spot.row, 0.0) for spot in spots) < min(spot.needed for spot in spots):
            return None
        movable = planner.by_row(
            lease for lease in self._leases.values() if lease.ticket.request.priority <= ticket.request.priority
        )
        wait = min(self._wait(spot, leaving[spot.row]) for spot in spots)
        for spot in sorted(spots, key=lambda spot: (self._fleet.cells.kv_reserved[spot.row], spot.row)):
            plan = self._moving(spot, movable.get(spot.row, ()), leaving[spot.row], free)
            if plan is not None and plan.seconds < wait:
                return plan
        return None

    def _free(self, leaving: Mapping[int, Sequence[Lease]]) -> dict[int, float]:
        """Blocks of each node that are free when those have left."""
        room = self._placement.pool.room
        return {row: room(row) + sum(lease.blocks for lease in leaving.get(row, ())) for row in self._fleet.rows()}

    def _moving(
        self, spot: Spot, movable: Sequence[Lease], leaving: Sequence[Lease], free: Mapping[int, float]
    ) -> Plan | None:
        """The cheapest streams whose leaving makes room at `spot`, each of which has a place elsewhere."""
        planner, row = self._planner, spot.row
        order = self.housed(sorted(movable, key=lambda lease: (planner.seconds(lease, row), lease.id)), free)
        moved = least(order, lambda some: planner.fits(spot, [*leaving, *some]))
        if moved is None:
            return None
        seconds = sum(planner.seconds(lease, row) for lease in moved)
        return Plan(row, tuple(lease.id for lease in moved), sum(lease.blocks for lease in moved), seconds)

    def housed(self, leases: Sequence[Lease], free: Mapping[int, float]) -> list[Lease]:
        """Those of `leases` that find a place on other nodes, one beside the other, each where it leaves least."""
        left, housed = dict(free), []
        for lease in leases:
            whole = lease.ticket.prompt_tokens + lease.ticket.reserve_tokens
            others = [row for row, _ in self._placement.prospects(lease.ticket) if row != lease.row]
            sizes = {row: self._placement.pool.blocks(row, whole) for row in others}
            fit = [row for row in others if sizes[row] <= left[row]]
            if fit:
                row = min(fit, key=lambda row: (left[row] - sizes[row], row))
                left[row] -= sizes[row]
                housed.append(lease)
        return housed

    def _wait(self, spot: Spot, leaving: Sequence[Lease]) -> float:
        """Seconds until enough of what runs there has ended for the request to fit; infinite if that would not do."""
        runs = sorted((lease for lease in self._leases.values() if lease.row == spot.row), key=self.left_s)
        gone = list(leaving)
        for lease in runs:
            if lease not in gone:
                gone.append(lease)
                if self._planner.fits(spot, gone):
                    return self.left_s(lease)
        return inf

    def left_s(self, lease: Lease) -> float:
        """Seconds that the rest of the lease's answer takes, at the pace its node has with all that it runs."""
        cells, row = self._fleet.cells, lease.row
        batch = cells.tpot_per_sequence[row] * cells.outstanding[row]
        pace = cells.tpot_base[row] + batch + cells.tpot_per_context[row] * cells.context_tokens[row]
        return pace * max(1, lease.ticket.output_tokens - lease.tokens)
