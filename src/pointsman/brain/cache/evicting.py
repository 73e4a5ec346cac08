"""A prefix cache of limited room that evicts by a rule: what one node would hold, block by block.

Strategy: blocks are nodes of a tree, known by the hash of the prompt up to their end. Only leaves can go; they wait in
heaps, one per kind where the rule asks for it, entered when they become leaves or are used, and passed over when
something newer is known of them. Evicted blocks are remembered for as long again as the cache is large, so that a rule
that learns reuse also hears of what came too late.
"""

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush

from pointsman.brain.cache.eviction import NO_BLOCK, CachedBlock, EvictionRule, Standing
from pointsman.brain.cache.reuse_times import MOST_USES, Kind

Entry = tuple[float, float, int, int, int]
"""Rank, last use, minus depth, stamp and key of a leaf: the longer unused, then the deeper first among equals."""

STALE_FACTOR = 4
"""A queue is cleared of what it holds in vain when it has this many times the blocks of the cache."""


class EvictingCache:
    """At most `capacity` blocks. `recompute(depth)`: seconds to compute the block at that depth (0 = first) again."""

    def __init__(self, capacity: int, rule: EvictionRule, recompute: Callable[[int], float]) -> None:
        if capacity < 1:
            raise ValueError("a cache needs room for a block")
        self.capacity = capacity
        self.evictions = 0
        self._rule = rule
        self._recompute = recompute
        self._blocks: dict[int, CachedBlock] = {}
        self._leaves: dict[Kind, list[Entry]] = {}
        self._standing = Standing()
        self._gone: dict[int, tuple[Kind, float]] = {}
        self._stamps = 0

    def __len__(self) -> int:
        return len(self._blocks)

    def __bool__(self) -> bool:
        return bool(self._blocks)

    def use(self, keys: Sequence[int], now: float, request_class: str = "") -> int:
        """A prompt with these leading full blocks is computed: how many of them were held.

        All are held afterwards, or the first `capacity` of them. `now` must not fall from call to call.
        """
        self._standing.now = now
        keys = keys[: self.capacity]
        held = self._held(keys)
        for key in keys[:held]:
            self._use(self._blocks[key], request_class)
        self._make_room(len(keys) - held, frozenset(keys[:held]))
        self._enter(keys, held, request_class)
        return held

    def _enter(self, keys: Sequence[int], held: int, request_class: str) -> None:
        """Add what is not held of a chain, whose end may have become a leaf."""
        parent = keys[held - 1] if held else NO_BLOCK
        for depth in range(held, len(keys)):
            self._add(keys[depth], parent, depth, request_class)
            parent = keys[depth]
        if keys:
            self._offer(self._blocks[keys[-1]])

    def _held(self, keys: Sequence[int]) -> int:
        for depth, key in enumerate(keys):
            if key not in self._blocks:
                return depth
        return len(keys)

    def _use(self, block: CachedBlock, request_class: str) -> None:
        now = self._standing.now
        self._standing.reuse_times.used_again(block.kind, now - block.used)
        block.used = now
        block.uses += 1
        block.kind = (request_class, min(block.uses, MOST_USES))
        block.stamp = 0
        block.rank = self._rule.rank(block, self._standing)

    def _add(self, key: int, parent: int, depth: int, request_class: str) -> None:
        now = self._standing.now
        gone = self._gone.pop(key, None)
        if gone is not None:
            self._standing.reuse_times.used_again(gone[0], now - gone[1])
        block = self._blocks[key] = CachedBlock(key, parent, depth, self._recompute(depth), now, (request_class, 1))
        block.rank = self._rule.rank(block, self._standing)
        if parent != NO_BLOCK:
            self._blocks[parent].children += 1

    def _offer(self, block: CachedBlock) -> None:
        """Enter a leaf where its turn to go will be found."""
        if block.children:
            return
        self._stamps += 1
        block.stamp = self._stamps
        queue = self._leaves.setdefault(block.kind if self._rule.by_kind else ("", 0), [])
        heappush(queue, (block.rank, block.used, -block.depth, block.stamp, block.key))
        if len(queue) > STALE_FACTOR * len(self._blocks) + 1024:
            queue[:] = [entry for entry in queue if self._leaf(entry) is not None]
            heapify(queue)

    def _make_room(self, wanted: int, kept: frozenset[int]) -> None:
        spared = []
        while len(self._blocks) + wanted > self.capacity:
            block = self._lowest()
            if block is None:
                break
            if block.key in kept:
                spared.append(block)
            else:
                self._evict(block)
        for block in spared:
            self._offer(block)

    def _lowest(self) -> CachedBlock | None:
        """Take the leaf of least value out of its queue; None if there is no leaf."""
        fronts = [(self._front(queue), queue) for queue in self._leaves.values()]
        leaves = [(block, queue) for block, queue in fronts if block is not None]
        if not leaves:
            return None
        block, queue = min(leaves, key=lambda front: self._rule.value(front[0], self._standing))
        heappop(queue)
        return block

    def _front(self, queue: list[Entry]) -> CachedBlock | None:
        while queue:
            block = self._leaf(queue[0])
            if block is not None:
                return block
            heappop(queue)
        return None

    def _leaf(self, entry: Entry) -> CachedBlock | None:
        """What the entry stands for, unless something newer is known of it."""
        *_, stamp, key = entry
        block = self._blocks.get(key)
        return block if block is not None and block.stamp == stamp and not block.children else None

    def _evict(self, block: CachedBlock) -> None:
        standing = self._standing
        standing.inflation = max(standing.inflation, block.rank)
        standing.reuse_times.evicted(standing.now - block.used)
        del self._blocks[block.key]
        self.evictions += 1
        self._remember(block)
        if block.parent != NO_BLOCK:
            parent = self._blocks[block.parent]
            parent.children -= 1
            self._offer(parent)

    def _remember(self, block: CachedBlock) -> None:
        self._gone[block.key] = (block.kind, block.used)
        if len(self._gone) > self.capacity:
            oldest = next(iter(self._gone))
            self._standing.reuse_times.never_again(self._gone.pop(oldest)[0])
