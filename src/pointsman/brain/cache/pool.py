"""Blocks of KV memory per node: reserved by live leases, kept ready for some, cached and evictable, free.

Strategy: nearly all engines keep KV in pages, where any free block is as good as another, and there the columns are the
whole account. A node that lays memory out otherwise (`kv_layout`) has an arena beside its columns, which knows places;
where no node has one, all that costs is the question whether there are any.

The engine itself decides what it evicts; `cached` is what the prefix index believes, cut to what live leases leave.
What is neither reserved, nor kept ready for a class of requests, nor cached is free. The column of what is reserved
counts what is kept ready, too, as it is taken for all but that class, and what is pinned.
"""

from collections.abc import Iterable
from math import ceil, inf

from pointsman.brain.cache.pools.account import Account
from pointsman.brain.cache.pools.arena import Arena
from pointsman.brain.cache.pools.buddy import Buddy
from pointsman.brain.cache.pools.layout import Layout
from pointsman.brain.cache.pools.paged import Paged
from pointsman.brain.cache.pools.size_class import SizeClass
from pointsman.brain.fleet import Fleet
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.view import NOW


class Pool:
    """Mutates the columns kv_capacity, kv_reserved and kv_cached of `fleet`. Amounts are whole blocks."""

    def __init__(self, fleet: Fleet) -> None:
        self._cells = fleet.cells
        self._specs: dict[int, NodeSpec] = {}
        self.arenas: dict[int, Arena] = {}
        self._aside: dict[int, int] = {}
        self._pinned: dict[int, int] = {}

    def lay(self, row: int, spec: NodeSpec) -> None:
        """The node at `row` lays its memory out as `spec` says, in blocks of the size that its column says.

        Leases that it has from when it was thought to keep pages are counted, but hold no piece.
        """
        self._specs.pop(row, None)
        if spec.kv_layout != "paged":
            self._specs[row] = spec
        self.relay(row)

    def forget(self, row: int) -> None:
        """The node at `row` has left."""
        self.set_aside(row, 0)
        self.set_pinned(row, 0)
        self._specs.pop(row, None)
        self.arenas.pop(row, None)

    def relay(self, row: int) -> None:
        """Capacity or size of the blocks at `row` are others now."""
        spec, capacity = self._specs.get(row), self._cells.kv_capacity[row]
        if spec is None or capacity == inf:
            self.arenas.pop(row, None)
            return
        layout = layout_of(spec, int(capacity), self._cells.block_tokens[row])
        if row in self.arenas:
            self.arenas[row].lay(layout)
        else:
            self.arenas[row] = Arena(layout)

    def resize(self, row: int, blocks: float) -> None:
        """The node's capacity is `blocks` (inf = unknown)."""
        self._cells.kv_capacity[row] = blocks
        self.relay(row)
        self._fit_cached(row)

    def reserve(self, row: int, tokens: float, lease: int) -> int:
        """A lease takes the blocks that hold `tokens`, rounded up; returns how many.

        The engine queues what does not fit, so reserved may exceed the capacity.
        """
        blocks = self.blocks(row, tokens)
        if self.arenas and row in self.arenas:
            blocks = self.arenas[row].reserve(lease, blocks)
        self._cells.kv_reserved[row] += blocks
        self._fit_cached(row)
        return blocks

    def release(self, row: int, blocks: int, lease: int) -> None:
        """A lease gives `blocks` back."""
        self._cells.kv_reserved[row] -= blocks
        if self.arenas and row in self.arenas:
            self.arenas[row].release(lease)

    def change(self, row: int, blocks: int, tokens: float) -> int:
        """A lease of `blocks` is counted with those that hold `tokens` instead; returns how many. Of pages only."""
        wanted = self.blocks(row, tokens)
        if wanted != blocks:
            self._cells.kv_reserved[row] += wanted - blocks
            self._fit_cached(row)
        return wanted

    def blocks(self, row: int, tokens: float) -> int:
        """Blocks of `row` that hold `tokens`."""
        return -int(-tokens // self._cells.block_tokens[row])

    def room(self, row: int) -> float:
        """Blocks of `row` that are not taken, evictable ones among them; below 0 where more is booked than there is."""
        return self._cells.kv_capacity[row] - self._cells.kv_reserved[row]

    def aside(self, row: int) -> int:
        """Blocks of `row` that are kept ready."""
        return self._aside.get(row, 0)

    def has_room(self, row: int, tokens: float) -> bool:
        """Whether `tokens` fit beside live leases, at the cost of what is cached."""
        return self.blocks(row, tokens) <= self.room(row) and self.place(row, tokens) == NOW

    def set_aside(self, row: int, blocks: int) -> None:
        """So many blocks of `row` are kept ready from now on, in all."""
        before = self._aside.pop(row, 0)
        if blocks:
            self._aside[row] = blocks
        if blocks != before:
            self._cells.kv_reserved[row] += blocks - before
            self._fit_cached(row)

    def pinned(self, row: int) -> int:
        """Blocks of `row` that are kept for the beginnings of prompts that they hold. Only of pages."""
        return self._pinned.get(row, 0)

    def set_pinned(self, row: int, blocks: int) -> None:
        """So many blocks of `row` are pinned from now on, in all."""
        before = self._pinned.pop(row, 0)
        if blocks:
            self._pinned[row] = blocks
        if blocks != before:
            self._cells.kv_reserved[row] += blocks - before
            self._fit_cached(row)

    def place(self, row: int, tokens: float) -> int:
        """Whether the layout of `row` has a place for `tokens`: NOW, LATER or NEVER. Pages always have."""
        arena = self.arenas.get(row)
        return NOW if arena is None else arena.place(self.blocks(row, tokens))

    def place_without(self, row: int, tokens: float, leases: Iterable[int]) -> int:
        """The same for a layout that is no pages, if those leases were gone."""
        return self.arenas[row].place_without(self.blocks(row, tokens), leases)

    def cached(self, row: int, tokens: float) -> None:
        """The index believes `tokens` of prefixes on `row`, those that are pinned among them."""
        blocks = tokens // self._cells.block_tokens[row]
        self._cells.kv_cached[row] = max(0.0, blocks - self._pinned.get(row, 0)) if self._pinned else blocks
        self._fit_cached(row)

    def account(self, row: int) -> Account:
        """The memory of `row` as it is now.

        A lease counted under another layout may hold a larger piece than it was counted for: nothing is queued for
        that, and less may be cached.
        """
        cells, arena = self._cells, self.arenas.get(row)
        capacity, cached, aside = cells.kv_capacity[row], cells.kv_cached[row], float(self._aside.get(row, 0))
        pinned = float(self._pinned.get(row, 0))
        booked = cells.kv_reserved[row] - aside - pinned
        if arena is None:
            pinned = min(pinned, capacity)
            reserved = min(booked, capacity - pinned)
            aside = min(aside, capacity - pinned - reserved)
            free = capacity - pinned - reserved - aside - cached
            largest = free + cached
        else:
            reserved = float(arena.held)
            cached = min(cached, float(arena.layout.free()))
            free = arena.layout.free() - cached
            largest = float(arena.layout.largest(arena.layout.capacity))
        return Account(
            capacity=capacity,
            reserved=reserved,
            preallocated=aside,
            pinned=pinned,
            cached=cached,
            free=free,
            queued=max(0.0, booked - reserved),
            largest=largest,
        )

    def _fit_cached(self, row: int) -> None:
        cells = self._cells
        room = cells.kv_capacity[row] - cells.kv_reserved[row]
        if cells.kv_cached[row] > room:
            cells.kv_cached[row] = max(0.0, room)


def layout_of(spec: NodeSpec, blocks: int, block_tokens: float) -> Layout:
    """The empty memory of a node, `blocks` of `block_tokens` each, laid out as it declares."""
    if spec.kv_layout == "buddy":
        return Buddy(blocks)
    if spec.kv_layout == "size_class":
        return SizeClass(blocks, ceil(spec.kv_split_tokens / block_tokens), spec.kv_short_share)
    return Paged(blocks)
