"""What one node holds whose engine evicts what it is told to, and nothing else: an account, where others are beliefs.

Strategy: the links form a tree, as in `evicting.py`, and the rule of that name picks who goes. What a live request
needs, or what is pinned, is held at its last link: that link counts as having a successor, so neither it nor any link
before it is a leaf, and only leaves can go. Nothing goes by itself when a prompt comes; whoever keeps the account of
the node's memory says to how many links it has to shrink, and what then went is to be ordered.
"""

from array import array
from collections.abc import Callable, Sequence
from typing import Any

from pointsman.brain.cache.believed import Believed, Touch
from pointsman.brain.cache.evicting import EvictingCache
from pointsman.brain.cache.eviction import NO_BLOCK, CachedBlock, EvictionRule

UNBOUNDED = 1 << 48


class LinkTree(EvictingCache):
    """Links of which nothing goes until it is told to `shrink`. `gone`: what went since it was emptied, in order."""

    def __init__(self, rule: EvictionRule, recompute: Callable[[int], float]) -> None:
        super().__init__(1, rule, recompute)
        self.gone: list[int] = []

    def use(self, keys: Sequence[int], now: float, request_class: str = "") -> int:
        """A prompt with these links comes: how many of them were held. All are afterwards."""
        self._standing.now = max(now, self._standing.now)
        held = self._held(keys)
        for key in keys[:held]:
            self._use(self._blocks[key], request_class)
        self._enter(keys, held, request_class)
        return held

    def shrink(self, most: int) -> None:
        """Let the leaves of least value go until at most so many links are left, or none may go."""
        self.capacity = max(0, most)
        self._make_room(0, frozenset())

    def hold(self, key: int) -> bool:
        """Keep a link, and with it all before it, until it is let go as often; False if there is no such link."""
        block = self._blocks.get(key)
        if block is not None:
            block.children += 1
        return block is not None

    def let_go(self, key: int) -> None:
        """Keep it no longer."""
        block = self._blocks[key]
        block.children -= 1
        self._offer(block)

    def drop(self, keys: Sequence[int]) -> list[int]:
        """Forget these links, ends of chains first, but for those that others follow or that are held: which went."""
        dropped = []
        for key in keys:
            block = self._blocks.get(key)
            if block is not None and not block.children:
                self._evict(block)
                self.gone.pop()
                dropped.append(key)
        return dropped

    def chains(self) -> list[list[int]]:
        """The whole chains that end here, the least recently used first."""
        parents = {block.parent for block in self._blocks.values()}
        ends = [block for block in self._blocks.values() if block.key not in parents]
        return [self._chain(end) for end in sorted(ends, key=lambda block: block.used)]

    def _chain(self, end: CachedBlock) -> list[int]:
        keys = [end.key]
        while end.parent != NO_BLOCK:
            end = self._blocks[end.parent]
            keys.append(end.key)
        return keys[::-1]

    def _evict(self, block: CachedBlock) -> None:
        super()._evict(block)
        self.gone.append(block.key)


class Commanded(Believed):
    """A node's links as the prefix index keeps them. `now` and `request_class` are those of the prompt that comes.

    `given_up` collects what has to be ordered: links that the rule, or a failure, gave up, in the order they went.
    """

    __slots__ = ("given_up", "now", "request_class", "tree")

    def __init__(self, rule: EvictionRule, recompute: Callable[[int], float]) -> None:
        super().__init__(UNBOUNDED)
        self.tree = LinkTree(rule, recompute)
        self.now = 0.0
        self.request_class = ""
        self.given_up: list[int] = []

    def newest_chains(self, links: int) -> list[Sequence[int]]:  # noqa: ARG002 - as where others are to be told
        """Nothing: who commands a node is alone with it."""
        return []

    def touch(self, links: Sequence[Any], known: int | None = None) -> list[int]:  # noqa: ARG002 - the tree knows
        """Hold `links` as newest, under a touch of their own. Nothing is evicted for them."""
        touch = self.newest = Touch(array("Q", links))
        self.tree.use(links, self.now, self.request_class)
        owner: dict[Any, Touch] = self.owner
        for link in links:
            owner[link] = touch
        return []

    def shrink(self, capacity: int) -> list[int]:
        """Give up links until at most `capacity` are left, as far as none is needed. Returns them."""
        self.tree.shrink(capacity)
        return self._given_up()

    def undo(self, touch: Touch, links: Sequence[Any], prolonged: int | None = None) -> list[int]:  # noqa: ARG002
        """Give up those of `links` that `touch` added and no later touch has covered. Returns them."""
        undone = [link for link in links if self.owner.get(link) is touch]
        self.tree.gone += self.tree.drop(undone[::-1])
        return self._given_up()

    def lost(self, links: Sequence[int]) -> list[int]:
        """The node has evicted these unasked. Returns those that are not held any more."""
        dropped = self.tree.drop(links)
        for link in dropped:
            del self.owner[link]
        return dropped

    def _given_up(self) -> list[int]:
        gone, self.tree.gone = self.tree.gone, []
        for link in gone:
            del self.owner[link]
        self.given_up += gone
        return gone
