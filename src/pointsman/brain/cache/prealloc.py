"""Memory kept ready for classes of requests, (model, length): guaranteed on some nodes, and handed out at once.

Strategy: what is kept is taken out of a node's free blocks beforehand, so everyone else sees the node that much fuller,
and a request of the class that much emptier (`offered`). Nothing else in a decision knows of classes. Which classes get
how much where is worked out anew about every second (`renew`): what configuration promises, and as much as the demand
of late asks for; of several gateways before the nodes each keeps its part. It goes back when the class is not used, and
on a node that is yielded to others who starve.

Only paged memory is kept: elsewhere a promise would need a place, and fragment what it is to spare.
"""

from collections.abc import Collection, Iterable
from math import ceil, inf, log2

import numpy as np

from pointsman.brain.cache.pool import Pool
from pointsman.brain.cache.standby import Standby
from pointsman.brain.fleet import Fleet
from pointsman.brain.model.cache_settings import CacheSettings
from pointsman.brain.model.view import Floats, Rows

SMALLEST_TOKENS = 256
"""The smallest class that is found by demand."""
MOST_FOUND = 256
"""Classes that demand is counted of: beyond it the one of least demand is forgotten."""


class Preallocation:
    """`on` tells whether anything is kept at all. Mutates the pool."""

    def __init__(self, settings: CacheSettings, fleet: Fleet, pool: Pool) -> None:
        self._fleet = fleet
        self._pool = pool
        self._declared: dict[str, list[Standby]] = {}
        self._found: dict[tuple[str, float], Standby] = {}
        self._leases: dict[int, tuple[Standby, int, int, float]] = {}
        self._settings = CacheSettings()
        self.on = False
        self.configure(settings)

    def configure(self, settings: CacheSettings) -> None:
        """Go by `settings` from now on. Classes that are declared otherwise begin anew."""
        before, self._settings = self._settings, settings
        self.on = bool(settings.prealloc or settings.demand_classes)
        if settings.prealloc != before.prealloc or not settings.demand_classes:
            self._drop()

    def arrived(self, model: str, tokens: float, now: float) -> None:
        """A request came that takes `tokens` of memory, prompt and reserved answer."""
        standby = self._of(model, tokens)
        if standby is None and self._settings.demand_classes:
            standby = self._find(model, tokens, now)
        if standby is not None:
            standby.demand.arrived(self._settings.demand_memory_s, now)

    def offered(self, model: str, tokens: float, rows: Rows) -> Floats | None:
        """Blocks that each of `rows` keeps for requests like this one; None where there are none."""
        standby = self._of(model, tokens)
        if standby is None or not standby.kept:
            return None
        kept = standby.kept
        return np.array([float(kept.get(row, 0)) for row in rows.tolist()])

    def ready(self, model: str, tokens: float) -> bool:
        """Whether some node keeps all the memory of such a request."""
        standby = self._of(model, tokens)
        return standby is not None and any(kept >= self._pool.blocks(row, tokens) for row, kept in standby.kept.items())

    def begun(self, lease: int, row: int, model: str, tokens: float, now: float) -> None:
        """A lease begins on `row`; its blocks have yet to be reserved."""
        standby = self._of(model, tokens)
        if standby is not None:
            blocks = self._pool.blocks(row, tokens)
            standby.take(row, blocks)
            self._leases[lease] = standby, row, blocks, now
            self._keep((row,))

    def ended(self, lease: int, now: float) -> None:
        """A lease has given its blocks back. Repeating is harmless."""
        standby, row, blocks, began = self._leases.pop(lease, (None, 0, 0, 0.0))
        if standby is not None:
            standby.demand.stayed(now - began)
            standby.give(row, blocks)
            self._refill(standby, row)
            self._keep((row,))

    def renew(self, now: float, yielded: Collection[int] = ()) -> None:
        """Promise anew, nothing on the rows that are `yielded`, and keep what is promised where there is room."""
        settings = self._settings
        for standby in self._in_order(now):
            requests = standby.requests(settings.demand_memory_s, settings.unused_s, now)
            wanted = -(-requests // self._fleet.bounds.gateways)
            rows = [row for row in self._rows(standby) if row not in yielded] if wanted else []
            standby.promised = {row: wanted * self._pool.blocks(row, standby.up_to_tokens) for row in rows}
            touched = {*standby.kept, *rows}
            for row in touched:
                self._refill(standby, row)
            self._keep(touched)

    def forget(self, row: int) -> None:
        """The node at `row` has left, or its blocks are others now."""
        for standby in self._all():
            standby.forget(row)
        self._leases = {lease: each for lease, each in self._leases.items() if each[1] != row}
        self._pool.set_aside(row, 0)

    def _of(self, model: str, tokens: float) -> Standby | None:
        """The class of such a request, or None."""
        for standby in self._declared.get(model, ()):
            if tokens <= standby.up_to_tokens:
                return standby
        return self._found.get((model, _length(tokens))) if self._found else None

    def _find(self, model: str, tokens: float, now: float) -> Standby:
        length, settings = _length(tokens), self._settings
        standby = self._found[model, length] = Standby(model, length, 0, settings.demand_nodes)
        if len(self._found) > MOST_FOUND:
            unused = [key for key, one in self._found.items() if one is not standby and not any(one.used.values())]
            if unused:
                least = min(unused, key=lambda key: self._found[key].demand.rate(settings.demand_memory_s, now))
                self._release(self._found.pop(least))
        return standby

    def _in_order(self, now: float) -> list[Standby]:
        """Declared classes, then those of most demand that are allowed; what others keep is given back."""
        memory_s = self._settings.demand_memory_s
        found = sorted(self._found.values(), key=lambda one: -one.demand.rate(memory_s, now))
        for standby in found[self._settings.demand_classes :]:
            self._release(standby)
        declared = [standby for each in self._declared.values() for standby in each]
        return declared + found[: self._settings.demand_classes]

    def _rows(self, standby: Standby) -> list[int]:
        """The nodes that keep memory for the class: those that do already, then those with most room."""
        cells, arenas = self._fleet.cells, self._pool.arenas
        able = [row for row in self._fleet.found(standby.model).listed if cells.kv_capacity[row] < inf]
        able = [row for row in able if row not in arenas]
        able.sort(key=lambda row: (row not in standby.promised, -self._pool.room(row), row))
        return able[: standby.nodes]

    def _refill(self, standby: Standby, row: int) -> None:
        """Keep on `row` what the class is promised there, as far as there is room."""
        kept = standby.kept.pop(row, 0)
        kept = min(standby.wanted(row), kept + max(0, int(self._pool.room(row))))
        if kept:
            standby.kept[row] = kept

    def _keep(self, rows: Iterable[int]) -> None:
        """Let the pool know what all classes together keep on these rows."""
        for row in rows:
            self._pool.set_aside(row, sum(standby.kept.get(row, 0) for standby in self._all()))

    def _release(self, standby: Standby) -> None:
        rows = list(standby.kept)
        standby.promised.clear()
        standby.kept.clear()
        self._keep(rows)

    def _drop(self) -> None:
        """Begin anew with the classes of the settings. Leases go on as if they were of no class."""
        rows = {row for standby in self._all() for row in standby.kept}
        self._found.clear()
        self._leases.clear()
        self._declared = {}
        for each in sorted(self._settings.prealloc, key=lambda each: each.up_to_tokens):
            standby = Standby(each.model, each.up_to_tokens, each.requests, each.nodes)
            self._declared.setdefault(each.model, []).append(standby)
        self._keep(rows)

    def _all(self) -> list[Standby]:
        return [*(standby for each in self._declared.values() for standby in each), *self._found.values()]


def _length(tokens: float) -> float:
    """The class's length that is found by demand: the next power of two."""
    return 2.0 ** ceil(log2(max(tokens, SMALLEST_TOKENS)))
