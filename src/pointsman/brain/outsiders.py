"""KV memory held for requests that others serve: taken from the pool like that of our own, under leases that end.

Whoever asks may die without a word, so a lease ends by itself unless it is renewed. One that has ended stays known for
some time: whoever gives it back once more is told so, and nothing changes.
"""

from collections import OrderedDict
from collections.abc import Iterable

import numpy as np
from xxhash import xxh3_64_hexdigest

from pointsman.brain.agenda import Agenda
from pointsman.brain.fleet import Fleet
from pointsman.brain.model.errors import Conflict, ModelNotFound, NoMemory, NotFound
from pointsman.brain.model.outside import Allocation, MemoryWish
from pointsman.brain.model.view import Rows, View
from pointsman.brain.placement import Placement

ENDED_KNOWN = 4096
"""Leases that have ended and are told from those that never were."""
FIRST_NUMBER = 1 << 40
"""Numbers of outsiders' leases in a node's arena are below its negative: warm-ups have those above."""


class OutsideLease:
    """Blocks on a row, while the row's node is of this generation. `until` moves when it is renewed."""

    __slots__ = ("began", "blocks", "generation", "id", "number", "row", "until", "wish")

    def __init__(self, id: str, number: int, wish: MemoryWish, row: int, generation: int, now: float) -> None:
        self.id = id
        self.number = number
        self.wish = wish
        self.row = row
        self.generation = generation
        self.began = now
        self.until = now + wish.ttl_s
        self.blocks = 0


class Outsiders:
    """Mutates the pool. `seed` tells apart the leases of several gateways."""

    def __init__(self, seed: int, fleet: Fleet, placement: Placement, agenda: Agenda) -> None:
        self._seed = seed
        self._fleet = fleet
        self._placement = placement
        self._agenda = agenda
        self._last = 0
        self._open: dict[str, OutsideLease] = {}
        self._ended: OrderedDict[str, str] = OrderedDict()

    def leases(self) -> Iterable[OutsideLease]:
        """Those that hold memory, oldest first."""
        return self._open.values()

    def allocate(self, wish: MemoryWish, now: float) -> Allocation:
        """Take memory on the node of greatest utility, as `greedy` would.

        Raises ModelNotFound, NotFound for a node that does not serve the model, and NoMemory; then nothing changed.
        """
        rows = self._candidates(wish)
        tokens = wish.prompt_tokens + wish.output_tokens
        fit = np.array([self._placement.pool.has_room(row, tokens) for row in rows.tolist()], dtype=np.bool_)
        if not fit.any():
            raise NoMemory(f"no node has {tokens} tokens of KV memory free for model {wish.model!r}; try again later")
        row = rows.item(int(np.where(fit, self._view(wish, rows).utility, 0.0).argmax()))
        self._last += 1
        name = xxh3_64_hexdigest(f"{self._seed} {now!r} {self._last}".encode())
        lease = self._open[name] = OutsideLease(name, self._last, wish, row, self._fleet.generation[row], now)
        lease.blocks = self._placement.pool.reserve(row, tokens, -FIRST_NUMBER - lease.number)
        self._agenda.add(lease.until, self._expire, name)
        return self._allocation(lease, now)

    def renew(self, id: str, ttl_s: float, now: float) -> Allocation:
        """Let the lease end in `ttl_s` seconds instead. Raises NotFound, and Conflict if it has ended."""
        lease = self._lease(id)
        lease.until = now + ttl_s
        self._agenda.add(lease.until, self._expire, id)
        return self._allocation(lease, now)

    def release(self, id: str) -> frozenset[str]:
        """Give the memory back; the models that may need it. Raises NotFound, and Conflict if it has ended."""
        return self._end(self._lease(id), "was released")

    def _candidates(self, wish: MemoryWish) -> Rows:
        if wish.model not in self._fleet.served():
            raise ModelNotFound(wish.model, sorted(self._fleet.served()))
        rows: Rows = self._fleet.found(wish.model).rows
        if wish.node is None:
            return rows
        row = self._fleet.row_of.get(wish.node)
        if row is None or row not in rows.tolist():
            raise NotFound(f"no node {wish.node!r} serves model {wish.model!r} now", param="node")
        return np.array([row], dtype=np.intp)

    def _view(self, wish: MemoryWish, rows: Rows) -> View:
        return View(
            self._fleet.table,
            rows,
            overlap=np.zeros(len(rows)),
            prompt_tokens=float(wish.prompt_tokens),
            output_tokens=float(wish.output_tokens),
            priority=wish.priority,
        )

    def _lease(self, id: str) -> OutsideLease:
        lease = self._open.get(id)
        if lease is not None and self._there(lease):
            return lease
        if lease is not None:
            self._end(lease, "ended with its node")
        if id in self._ended:
            raise Conflict(f"lease {id!r} {self._ended[id]} already; nothing has changed", param="lease")
        raise NotFound(f"no lease {id!r}: it was never given, or ended long ago", param="lease")

    def _expire(self, id: str, now: float) -> None:
        lease = self._open.get(id)
        if lease is not None and lease.until <= now:
            self._end(lease, "expired")

    def _end(self, lease: OutsideLease, how: str) -> frozenset[str]:
        del self._open[lease.id]
        self._ended[lease.id] = how
        if len(self._ended) > ENDED_KNOWN:
            self._ended.popitem(last=False)
        if self._fleet.generation[lease.row] != lease.generation:
            return frozenset()
        self._placement.pool.release(lease.row, lease.blocks, -FIRST_NUMBER - lease.number)
        return self._fleet.models[lease.row]

    def _there(self, lease: OutsideLease) -> bool:
        """Whether the node is still there that the memory is on."""
        row, fleet = lease.row, self._fleet
        return fleet.generation[row] == lease.generation and fleet.specs[row] is not None

    def _allocation(self, lease: OutsideLease, now: float) -> Allocation:
        spec = self._fleet.spec(lease.row)
        return Allocation(
            lease=lease.id,
            node=spec.name,
            url=spec.url,
            rank=spec.rank,
            blocks=lease.blocks,
            block_tokens=int(self._fleet.cells.block_tokens[lease.row]),
            ttl_s=lease.until - now,
        )
