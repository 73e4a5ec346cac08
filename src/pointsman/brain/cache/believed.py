"""What one node is believed to hold, where the engine does not say: an LRU model fed by what we sent there.

Strategy: a request touches its whole chain at once, so recency is kept per touch, not per link. `owner` maps a link to
the newest touch that covered it; `touches` is the queue of touches, oldest first, each with its links packed 8 bytes
apiece. Eviction takes the oldest touch from its tail and drops the links it still owns. Since touching a link touches
all its ancestors, an ancestor's touch is never older than its descendants': what remains is always closed under
prefixes, as in an engine that frees a request's blocks in reverse order. A chain that goes on where a touch ends, as
each turn of a conversation does, needs no touch of its own: that one is prolonged and becomes the newest. Both steps
are amortised O(1) a link, and whatever the history, memory follows the live links: when stale copies outnumber them,
the queue is rebuilt.

Links are `Any` where they are only hashed and compared: of a declared integer a compiled loop would make a number of
the machine and then an object again, at every step.
"""

from array import array
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final

from mypy_extensions import mypyc_attr

STALE_FACTOR: Final = 4
"""Rebuild the queue when it holds this many times the live links."""


@mypyc_attr(acyclic=True)
class Touch:
    """One request's chain, or that of several, each of which began with the one before: so often it was `prolonged`.

    Of `links` the first `left` are still queued for eviction.
    """

    __slots__ = ("left", "links", "prolonged")

    def __init__(self, links: "array[Any]") -> None:
        self.links = links
        self.left = len(links)
        self.prolonged = 0


class Believed:
    """Links believed on one node, at most `capacity` of them. `newest` is the last touch, None before the first."""

    __slots__ = ("_queued", "capacity", "newest", "owner", "touches")

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.newest: Touch | None = None
        self.owner: dict[Any, Touch] = {}
        self.touches: OrderedDict[Touch, None] = OrderedDict()
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

    def touch(self, links: Sequence[Any], known: int | None = None) -> list[int]:
        """Hold `links` (cut to the capacity) as newest. Returns the links evicted for them, deepest first.

        `known` is their `depth`, if the caller has asked for it already.
        """
        owner, capacity = self.owner, self.capacity
        covered: Sequence[Any] = links if len(links) <= capacity else links[:capacity]
        held = self.depth(covered) if known is None else known
        touch = owner[covered[held - 1]] if held else None
        if touch is not None and touch.left == held and touch.links[held - 1] == covered[held - 1]:
            self._prolong(touch, covered, held)
        else:
            touch = Touch(array("Q", covered))
            for link in covered:
                owner[link] = touch
            self.touches[touch] = None
            self._queued += touch.left
        self.newest = touch
        evicted = self.shrink(capacity) if len(owner) > capacity else []
        if self._queued > STALE_FACTOR * len(owner) + 1024:
            self._rebuild()
        return evicted

    def _prolong(self, touch: Touch, covered: Sequence[Any], held: int) -> None:
        """Let `touch`, whose chain the first `held` of `covered` are, cover them all, as newest.

        It owns the end of its chain; a later one may have covered the beginning.
        """
        owner = self.owner
        for link in covered:
            if owner.get(link) is touch:
                break
            owner[link] = touch
        touch.prolonged += 1
        self.touches.move_to_end(touch)
        if held < len(covered):
            del touch.links[held:]
            added = covered[held:]
            touch.links.extend(added)
            touch.left = len(covered)
            self._queued += len(added)
            for link in added:
                owner[link] = touch

    def shrink(self, capacity: int) -> list[int]:
        """Evict the least recent until at most `capacity` links are left, which is the capacity from now on."""
        self.capacity = capacity
        evicted: list[Any] = []
        excess = len(self.owner) - capacity
        while excess > 0:
            touch = next(iter(self.touches))
            excess -= self._cut(touch, excess, evicted)
            if not touch.left:
                del self.touches[touch]
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

    def undo(self, touch: Touch, links: Sequence[Any], prolonged: int | None = None) -> list[int]:
        """Drop those of `links` that `touch` added and no later request has covered. Returns them.

        `prolonged` is how often the touch was when it added them: what has prolonged it since has covered them. `links`
        must be the part of the touched chain that was not held before it: then whatever is held behind one of
        them came with `touch` or later, so what remains is closed under prefixes.
        """
        if prolonged is not None and touch.prolonged != prolonged:
            return []
        owner = self.owner
        undone = [link for link in links if owner.get(link) is touch]
        for link in undone:
            del owner[link]
        return undone

    def _rebuild(self) -> None:
        fresh: OrderedDict[Touch, None] = OrderedDict()
        for touch in self.touches:
            live = array("Q", [link for link in touch.links[: touch.left] if self.owner.get(link) is touch])
            if live:
                touch.links, touch.left = live, len(live)
                fresh[touch] = None
        self.touches = fresh
        self._queued = len(self.owner)
