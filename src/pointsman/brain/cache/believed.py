"""What one node is believed to hold, where the engine does not say: an LRU model fed by what we sent there.

Strategy: a request touches its whole chain at once, so recency is kept per touch, not per link. `owner` maps a link to
the newest touch that covered it; `touches` is the queue of touches, oldest first, each with its links packed 8 bytes
apiece. Eviction takes the oldest touch from its tail and drops the links it still owns. Since touching a link touches
all its ancestors, an ancestor's touch is never older than its descendants': what remains is always closed under
prefixes, as in an engine that frees a request's blocks in reverse order. Both steps are amortised O(1) a link, and
whatever the history, memory follows the live links: when stale copies outnumber them, the queue is rebuilt.

Links are `Any` where they are only hashed and compared: of a declared integer a compiled loop would make a number of
the machine and then an object again, at every step.
"""

from array import array
from collections import deque
from collections.abc import Sequence
from typing import Any, Final

STALE_FACTOR: Final = 4
"""Rebuild the queue when it holds this many times the live links."""


class Touch:
    """One request's chain. Of `links` the first `left` are still queued for eviction."""

    __slots__ = ("left", "links")

    def __init__(self, links: "array[Any]") -> None:
        self.links = links
        self.left = len(links)


class Believed:
    """Links believed on one node, at most `capacity` of them. `newest` is the last touch, None before the first."""

    __slots__ = ("_queued", "capacity", "newest", "owner", "touches")

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.newest: Touch | None = None
        self.owner: dict[Any, Touch] = {}
        self.touches: deque[Touch] = deque()
        self._queued = 0

    def __len__(self) -> int:
        return len(self.owner)

    def __bool__(self) -> bool:
        return bool(self.owner)

    def depth(self, links: Sequence[Any]) -> int:
        """How many leading links are held: a binary search, since what is held is closed under prefixes."""
        low, high = 0, len(links)
        while low < high:
            middle = (low + high) >> 1
            if links[middle] in self.owner:
                low = middle + 1
            else:
                high = middle
        return low

    def newest_chains(self, links: int) -> list[Sequence[int]]:
        """What the last touches covered and is not evicted, oldest first; as many as have at most `links` links.

        Touching them in this order elsewhere leads to what is held here.
        """
        found: list[Sequence[int]] = []
        for touch in reversed(self.touches):
            links -= touch.left
            if links < 0:
                break
            covered = touch.links[: touch.left]
            found.append(covered[: self.depth(covered)])
        return found[::-1]

    def touch(self, links: Sequence[int]) -> list[int]:
        """Hold `links` (cut to the capacity) as newest. Returns the links evicted for them, deepest first."""
        owner, capacity = self.owner, self.capacity
        covered: Sequence[Any] = links if len(links) <= capacity else links[:capacity]
        touch = self.newest = Touch(array("Q", covered))
        for link in covered:
            owner[link] = touch
        self.touches.append(touch)
        self._queued += touch.left
        evicted = self.shrink(capacity) if len(owner) > capacity else []
        if self._queued > STALE_FACTOR * len(owner) + 1024:
            self._rebuild()
        return evicted

    def shrink(self, capacity: int) -> list[int]:
        """Evict the least recent until at most `capacity` links are left, which is the capacity from now on."""
        self.capacity = capacity
        evicted: list[Any] = []
        excess = len(self.owner) - capacity
        while excess > 0:
            touch = self.touches[0]
            excess -= self._cut(touch, excess, evicted)
            if not touch.left:
                self.touches.popleft()
        return evicted

    def _cut(self, touch: Touch, most: int, evicted: list[Any]) -> int:
        """Take links off the end of `touch`, and enter in `evicted` those that it owned, `most` at most: how many."""
        owner, links, before = self.owner, touch.links, touch.left
        left, more = before, most
        while left and more:
            left -= 1
            link = links[left]
            if owner.get(link) is touch:
                del owner[link]
                evicted.append(link)
                more -= 1
        touch.left = left
        self._queued -= before - left
        return most - more

    def undo(self, touch: Touch, links: Sequence[Any]) -> list[int]:
        """Drop those of `links` that `touch` added and no later touch has covered. Returns them.

        `links` must be the part of the touched chain that was not held before it: then whatever is held behind one of
        them came with `touch` or later, so what remains is closed under prefixes.
        """
        owner = self.owner
        undone = [link for link in links if owner.get(link) is touch]
        for link in undone:
            del owner[link]
        return undone

    def _rebuild(self) -> None:
        fresh: deque[Touch] = deque()
        for touch in self.touches:
            live = array("Q", [link for link in touch.links[: touch.left] if self.owner.get(link) is touch])
            if live:
                touch.links, touch.left = live, len(live)
                fresh.append(touch)
        self.touches = fresh
        self._queued = len(self.owner)
