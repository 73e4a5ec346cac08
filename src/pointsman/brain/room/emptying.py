"""Free memory that lies scattered at low load, gathered before anyone needs it: a node is emptied.

Strategy: a question, which mutates nothing. How scattered a model's free memory is, is told by the largest request that
would get its memory at once, against the largest that could if all that runs were laid out best. Where that is too
far off, and little runs, the node with least live memory whose streams all find a place on others is emptied, if to
compute them again takes fewer seconds than it would take the node to become free by itself.
"""

from collections.abc import Mapping, Sequence
from math import inf

from pointsman.brain.fleet import Fleet
from pointsman.brain.lease import Lease
from pointsman.brain.placement import Placement
from pointsman.brain.room.gathering import Gatherer
from pointsman.brain.room.plan import Plan, Planner


class Emptier:
    """Mutates nothing. `leases` are those open."""

    def __init__(
        self, fleet: Fleet, placement: Placement, planner: Planner, gatherer: Gatherer, leases: Mapping[int, Lease]
    ) -> None:
        self._fleet = fleet
        self._placement = placement
        self._planner = planner
        self._gatherer = gatherer
        self._leases = leases

    def models(self) -> list[str]:
        """Every model that some node serves, sorted."""
        return sorted(self._fleet.served())

    def plan(self, model: str, above: float, now: float) -> Plan | None:
        """Which node of the model's to empty; None if less than `above` is scattered, or that is not worth it."""
        rows = self._rows(model)
        if self._scattered(rows) <= above or any(self._planner.leaving(now).values()):
            return None
        return self._emptying(rows)

    def load(self, model: str) -> float:
        """The share of what its nodes can have, in requests or in memory, that they have."""
        rows, cells, fleet = self._rows(model), self._fleet.cells, self._fleet
        requests = sum(cells.outstanding[row] for row in rows) / max(1.0, sum(fleet.cap[row] for row in rows))
        memory = sum(cells.kv_reserved[row] * cells.block_tokens[row] for row in rows)
        capacity = sum(cells.kv_capacity[row] * cells.block_tokens[row] for row in rows)
        return float(max(requests, memory / capacity if capacity else 0.0))

    def _rows(self, model: str) -> list[int]:
        rows: list[int] = self._fleet.candidates(model)[0].tolist()
        return rows

    def _scattered(self, rows: Sequence[int]) -> float:
        """0..1; 0 where a whole node is free, or memory is not known."""
        cells, pool = self._fleet.cells, self._placement.pool
        if len(rows) < 2 or any(cells.kv_capacity[row] == inf for row in rows):
            return 0.0
        accounts = [pool.account(row) for row in rows]
        sizes = [cells.block_tokens[row] for row in rows]
        in_sum = sum((each.free + each.cached) * size for each, size in zip(accounts, sizes, strict=True))
        best = min(in_sum, max(each.capacity * size for each, size in zip(accounts, sizes, strict=True)))
        largest = max(each.largest * size for each, size in zip(accounts, sizes, strict=True))
        return 1.0 - largest / best if best > 0.0 else 0.0

    def _emptying(self, rows: Sequence[int]) -> Plan | None:
        cells, planner = self._fleet.cells, self._planner
        movable = planner.by_row(self._leases.values())
        free = {row: self._placement.pool.room(row) for row in self._fleet.rows()}
        for row in sorted(rows, key=lambda row: (cells.kv_reserved[row] * cells.block_tokens[row], row)):
            runs = [lease for lease in self._leases.values() if lease.row == row]
            if not runs or self._has_others(row, runs) or len(movable.get(row, ())) < len(runs):
                continue
            if len(self._gatherer.housed(runs, free)) < len(runs):
                continue
            seconds = sum(planner.seconds(lease, row) for lease in runs)
            if seconds < max(self._gatherer.left_s(lease) for lease in runs):
                return Plan(row, tuple(lease.id for lease in runs), sum(lease.blocks for lease in runs), seconds)
        return None

    def _has_others(self, row: int, runs: Sequence[Lease]) -> bool:
        """Whether memory is held there that would stay: by other gateways' requests, or under a lease of outsiders."""
        held = self._fleet.cells.kv_reserved[row] - self._placement.pool.aside(row)
        return held > sum(lease.blocks for lease in runs)
