"""Paged KV blocks with a chained prefix cache, evicting at allocation as vLLM V1 does.

A free block keeps its content until the allocator takes it from the head of the free queue; a hit in between takes it
back out of the queue's middle. Blocks need no numbers for this. A shared block is known by its hash; private blocks
(content unknown to the cache) differ in nothing, so those freed together form one entry of the queue with a count. The
queue is an `OrderedDict` from hash, or a negative key for a run of private blocks, to the number of blocks.

Two sequences that compute the same block at the same time keep one copy in the cache: a sequence claims the block
after those it shares, and who comes second keeps its own copy private, and all that follows it. So what sequences share
are leading parts of chains, which they give back tail first, and the cache never holds a block without those before it.
"""

from collections import OrderedDict
from collections.abc import Iterable

from pointsman.engine.kv_events import KvEventLog

PRIVATE = -1


class BlockPool:
    """`total` blocks: in use, free with cached content, or free and blank. `log` is told what is evicted."""

    def __init__(self, total: int, log: KvEventLog | None = None) -> None:
        if total < 1:
            raise ValueError(f"an engine needs at least one KV block, got {total}")
        self.total = total
        self._log = log
        self._forget()

    def clear(self) -> None:
        """Forget all content; every block becomes free and blank. Only while no sequence holds any."""
        self._forget()
        if self._log is not None:
            self._log.cleared()

    def _forget(self) -> None:
        self.free = self.total
        self.evicted = 0
        self._references: dict[int, int] = {}  # hash -> sequences holding it; 0: cached and free
        self._claims: set[int] = set()
        self._queue: OrderedDict[int, int] = OrderedDict({PRIVATE: self.total})
        self._last_run = PRIVATE

    @property
    def cached(self) -> int:
        """Blocks the prefix cache can serve, in use or free."""
        return len(self._references)

    def match(self, hashes: list[int], limit: int) -> int:
        """How many leading blocks of `hashes`, at most `limit`, are cached. Does not mutate."""
        references = self._references
        for depth, key in enumerate(hashes[:limit]):
            if key not in references:
                return depth
        return min(limit, len(hashes))

    def can_hold(self, hits: list[int], fresh: int) -> bool:
        """Whether the cached blocks `hits` and `fresh` further ones can be had. Does not mutate."""
        if fresh + len(hits) <= self.free:
            return True
        references = self._references
        return fresh + sum(references[key] == 0 for key in hits) <= self.free

    def share(self, hits: list[int]) -> None:
        """Take part in the cached blocks `hits`; those that were free leave the queue."""
        references = self._references
        for key in hits:
            holders = references[key]
            if holders == 0:
                self._unqueue(key)
                self.free -= 1
            references[key] = holders + 1

    def take(self, count: int) -> None:
        """Take `count` private blocks from the head of the queue, evicting what they cached. Ask `can_hold` first."""
        self.free -= count
        while count:
            key, available = self._queue.popitem(last=False)
            if key >= 0:
                self._forget_block(key)
            elif available > count:
                self._queue[key] = available - count
                self._queue.move_to_end(key, last=False)
                return
            count -= available

    def claim(self, key: int) -> bool:
        """Reserve the right to publish a hash; False if it is cached or another's already."""
        if key in self._references or key in self._claims:
            return False
        self._claims.add(key)
        return True

    def unclaim(self, key: int) -> None:
        """Give up a claim."""
        self._claims.remove(key)

    def publish(self, key: int) -> None:
        """Enter a private block in use into the cache under its hash, which has been claimed."""
        self._claims.remove(key)
        self._references[key] = 1

    def release(self, blocks: Iterable[int]) -> None:
        """Give blocks back in the order given: the first will be evicted first."""
        references = self._references
        private = 0
        for key in blocks:
            if key == PRIVATE:
                private += 1
                continue
            if private:
                private = self._release_private(private)
            holders = references[key] - 1
            references[key] = holders
            if holders == 0:
                self._enqueue(key)
                self.free += 1
        if private:
            self._release_private(private)

    def _enqueue(self, key: int) -> None:
        """A cached block is free from now on."""
        self._queue[key] = 1

    def _unqueue(self, key: int) -> None:
        """A cached block that was free is in use again."""
        del self._queue[key]

    def _forget_block(self, key: int) -> None:
        """A free block, out of the queue, loses its content."""
        del self._references[key]
        self.evicted += 1
        if self._log is not None:
            self._log.removed(key)

    def _release_private(self, count: int) -> int:
        self._last_run -= 1
        self._queue[self._last_run] = count
        self.free += count
        return 0
