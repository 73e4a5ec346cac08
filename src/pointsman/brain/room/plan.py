"""Whom to take off which node, so that a request fits that fits nowhere.

Strategy: a question, which mutates nothing. For each node that could take the request, those who may be taken off it
are added up in the order of the rule until the request would fit; then whoever turns out not to be needed is spared,
the last of the order first. Of the nodes where that succeeds the one is chosen whose plan is best by the same rule. Who
has been asked to leave already counts as gone, and room that was promised to others as taken, so nobody is interrupted
for room that is on its way.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import msgspec

from pointsman.brain.fleet import Fleet
from pointsman.brain.lease import Lease, Ticket
from pointsman.brain.life.resume import may_interrupt
from pointsman.brain.life.victims import RULES, Victim
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.model.view import NOW
from pointsman.brain.placement import Placement

ASKED_SECONDS = 2.0
"""Who has not left by then, after being asked, stays: its stream turned out to be one that cannot go on elsewhere."""


class Plan(msgspec.Struct, frozen=True, gc=False):
    """Take `leases` off the node at `row`: they give up `blocks`, and take `seconds` to be as far again."""

    row: int
    leases: tuple[int, ...]
    blocks: int
    seconds: float
    rank: float = 0.0


class Spot(msgspec.Struct, frozen=True, gc=False):
    """A node that a ticket might go to: it lacks `needed` blocks there, holds `reused`, and takes `whole` tokens."""

    row: int
    needed: float
    reused: float
    whole: int


class Planner:
    """Mutates nothing but its memory of who was asked to leave, and when. `leases` are those open."""

    def __init__(
        self, settings: BrainSettings, fleet: Fleet, placement: Placement, leases: Mapping[int, Lease]
    ) -> None:
        self._settings = settings
        self._fleet = fleet
        self._placement = placement
        self._leases = leases
        self._asked: dict[int, float] = {}

    def configure(self, settings: BrainSettings) -> None:
        """Go by `settings` from now on."""
        self._settings = settings

    def ask(self, plan: Plan, now: float) -> None:
        """The plan is carried out."""
        self._asked |= dict.fromkeys(plan.leases, now)

    def preempting(self, ticket: Ticket, now: float) -> Plan | None:
        """How requests of strictly lower priority make room for `ticket`; None if it fits anyway, or they cannot."""
        priority = ticket.request.priority
        yielding = self.by_row(lease for lease in self._leases.values() if lease.ticket.request.priority < priority)
        if not yielding:
            return None
        spots, leaving = self.spots(ticket), self.leaving(now)
        if any(self.fits(spot, leaving[spot.row]) for spot in spots):
            return None
        found = (self._plan(spot, yielding[spot.row], leaving[spot.row]) for spot in spots if spot.row in yielding)
        return min((plan for plan in found if plan is not None), key=_rank, default=None)

    def by_row(self, leases: Iterable[Lease]) -> dict[int, list[Lease]]:
        """Those of `leases` that may be taken off their nodes, by node."""
        found: defaultdict[int, list[Lease]] = defaultdict(list)
        for lease in leases:
            ticket = lease.ticket
            if ticket.request.resumable and may_interrupt(ticket.interruptions) and lease.id not in self._asked:
                found[lease.row].append(lease)
        return found

    def leaving(self, now: float) -> defaultdict[int, list[Lease]]:
        """Who was asked to leave lately and has not yet, by node."""
        self._asked = {lease: at for lease, at in self._asked.items() if lease in self._leases}
        found: defaultdict[int, list[Lease]] = defaultdict(list)
        for lease, asked in self._asked.items():
            if now - asked < ASKED_SECONDS:
                found[self._leases[lease].row].append(self._leases[lease])
        return found

    def spots(self, ticket: Ticket) -> list[Spot]:
        """Where the ticket could go if there were room."""
        whole = ticket.prompt_tokens + ticket.reserve_tokens
        spots = []
        for row, overlap in self._placement.prospects(ticket):
            size = self._fleet.cells.block_tokens[row]
            spots.append(Spot(row, -(-(whole - overlap) // size), overlap / size, whole))
        return spots

    def fits(self, spot: Spot, gone: Collection[Lease]) -> bool:
        """Whether the ticket would fit there if those were gone: by slots, by blocks, and by how these are laid out."""
        cells, row = self._fleet.cells, spot.row
        if cells.outstanding[row] - len(gone) >= self._fleet.bounds.bound_cells[row]:
            return False
        reserved = cells.kv_reserved[row] - sum(lease.blocks for lease in gone)
        if spot.needed > cells.kv_capacity[row] - reserved - spot.reused:
            return False
        pool = self._placement.pool
        return row not in pool.arenas or pool.place_without(row, spot.whole, [lease.id for lease in gone]) == NOW

    def seconds(self, lease: Lease, row: int) -> float:
        """To compute on `row` what the lease has in the cache, as if nothing of it were cached there."""
        cells, tokens = self._fleet.cells, lease.ticket.prompt_tokens + lease.tokens
        per_token = cells.prefill_per_token[row] + 0.5 * tokens * cells.prefill_per_pair[row]
        return cells.prefill_base[row] + tokens * per_token

    def cost(self, lease: Lease) -> float:
        """What taking the lease off its node costs, in seconds: copying where that is quicker than to compute."""
        return min(self.seconds(lease, lease.row), self._placement.swapping.seconds(lease))

    def swaps(self, lease: Lease) -> bool:
        """Whether it is to be copied."""
        return self._placement.swapping.seconds(lease) < self.seconds(lease, lease.row)

    def _plan(self, spot: Spot, yielding: Sequence[Lease], leaving: Sequence[Lease]) -> Plan | None:
        rank = self._ranking(spot)
        order = sorted(yielding, key=lambda lease: (rank(lease), lease.id))
        needed = least(order, lambda some: self.fits(spot, [*leaving, *some]))
        if needed is None:
            return None
        ranks = [rank(lease) for lease in needed]
        return Plan(
            row=spot.row,
            leases=tuple(lease.id for lease in needed),
            blocks=sum(lease.blocks for lease in needed),
            seconds=sum(self.cost(lease) for lease in needed),
            rank=max(ranks) if self._settings.victims == "value" else sum(ranks),
        )

    def _ranking(self, spot: Spot) -> Callable[[Lease], float]:
        rule, required = RULES[self._settings.victims], max(1.0, spot.needed)
        return lambda lease: rule(self._victim(lease), required)

    def _victim(self, lease: Lease) -> Victim:
        ticket = lease.ticket
        return Victim(
            lease=lease.id,
            blocks=lease.blocks,
            seconds=self.cost(lease),
            priority=ticket.request.priority,
            generated=ticket.delivered_tokens + lease.tokens,
            most=ticket.request.max_tokens or ticket.delivered_tokens + ticket.output_tokens,
        )


def least(order: Sequence[Lease], enough: Callable[[Sequence[Lease]], bool]) -> list[Lease] | None:
    """The first of `order` that are `enough`, without those that are not needed; None if all are not."""
    for count in range(1, len(order) + 1):
        if enough(order[:count]):
            needed = list(order[:count])
            for lease in reversed(order[: count - 1]):
                others = [other for other in needed if other is not lease]
                needed = others if enough(others) else needed
            return needed
    return None


def _rank(plan: Plan) -> tuple[float, float, int]:
    return plan.rank, plan.seconds, plan.row
