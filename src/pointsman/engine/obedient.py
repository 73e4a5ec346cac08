"""A block pool that evicts what it is told to.

Strategy: of blocks that came with a name, a link of the gateway's chain, somebody else keeps the account and says which
go and when. So those are the last that this pool takes on its own: first come blank blocks, then cached ones without a
name, which are answers and prompts that came past the gateway, and only then, where an order is late, named ones, least
recently used first. Which these were is kept until somebody asks (`take_lost`).

A block is dropped with all that follows it, as nobody could reach that any more; so children are known of each. What is
pinned is held, as if by a sequence.
"""

from collections import OrderedDict
from collections.abc import Sequence

from pointsman.brain.model.commands import Carried
from pointsman.engine.blocks import BlockPool
from pointsman.engine.kv_events import KvEventLog

MOST_LOST = 65_536
"""Links that are remembered as lost; beyond it the oldest are forgotten."""


class ObedientPool(BlockPool):
    """`named` free blocks wait in a queue of their own. Links are the names."""

    def __init__(self, total: int, log: KvEventLog | None = None) -> None:
        super().__init__(total, log)
        self._reset()

    def clear(self) -> None:
        super().clear()
        self._reset()

    def _reset(self) -> None:
        self._named: OrderedDict[int, int] = OrderedDict()  # free blocks with a name, the next to go first
        self._link_of: dict[int, int] = {}
        self._blocks_of: dict[int, list[int]] = {}
        self._parent_of: dict[int, int] = {}
        self._children_of: dict[int, list[int]] = {}
        self._pins: dict[int, list[int]] = {}
        self._lost: dict[int, None] = {}

    @property
    def named(self) -> int:
        """Cached blocks, in use or free, whose links are known."""
        return len(self._link_of)

    @property
    def pinned(self) -> int:
        return sum(len(blocks) for blocks in self._pins.values())

    def link_up(self, key: int, parent: int | None) -> None:
        """A block that was just published follows `parent`, or is a prompt's first."""
        if parent is not None:
            self._parent_of[key] = parent
            self._children_of.setdefault(parent, []).append(key)

    def name(self, key: int, link: int) -> None:
        """A cached block in use holds a part of that link. Who names it first is right."""
        if key not in self._link_of:
            self._link_of[key] = link
            self._blocks_of.setdefault(link, []).append(key)
            self._lost.pop(link, None)

    def take(self, count: int) -> None:
        """Take `count` private blocks, those last that have a name. Ask `can_hold` first."""
        late = count - (self.free - len(self._named))
        super().take(count - max(0, late))
        for _ in range(late):
            key, _one = self._named.popitem(last=False)
            self._lose(self._link_of[key])
            self._forget_block(key)
            self.free -= 1

    def evict(self, links: Sequence[int]) -> Carried:
        """Drop the blocks of these links, in order, and whatever follows them, but for what is in use or pinned."""
        evicted = in_use = unknown = 0
        for link in links:
            blocks = self._blocks_of.get(link)
            unknown += blocks is None
            for key in reversed(blocks or ()):
                dropped = self._drop(key)
                evicted += dropped
                in_use += not dropped and key in self._references
        return Carried(blocks=evicted, in_use=in_use, unknown=unknown)

    def pin(self, links: Sequence[int]) -> Carried:
        """Hold the blocks of these links. One whose parent is not held is unknown, like one without blocks."""
        pinned = unknown = 0
        for link in links:
            blocks = self._blocks_of.get(link)
            if blocks is None or not self._reached(blocks[0]):
                unknown += 1
            elif link not in self._pins:
                self._pins[link] = list(blocks)
                self.share(blocks)
                pinned += len(blocks)
        return Carried(blocks=pinned, unknown=unknown)

    def unpin(self, links: Sequence[int]) -> Carried:
        """Let go of what was pinned, of all of it where `links` are none: the ends of chains first, as sequences do.

        What others behind it need stays.
        """
        unpinned = in_use = unknown = 0
        for link in reversed(links or tuple(self._pins)):
            blocks = self._pins.get(link)
            if blocks is None:
                unknown += 1
            elif any(self._link_of.get(child, -1) in self._pins for child in self._children_of.get(blocks[-1], ())):
                in_use += len(blocks)
            else:
                del self._pins[link]
                self.release(reversed(blocks))
                unpinned += len(blocks)
        return Carried(blocks=unpinned, in_use=in_use, unknown=unknown)

    def take_lost(self) -> tuple[int, ...]:
        """Links that lost a block since this was asked last, other than by order and not regained, oldest first."""
        lost = tuple(self._lost)
        self._lost.clear()
        return lost

    def _reached(self, key: int) -> bool:
        """Whether the block before this one, if there is one, is pinned."""
        parent = self._parent_of.get(key)
        return parent is None or self._link_of.get(parent, -1) in self._pins

    def _lose(self, link: int) -> None:
        self._lost[link] = None
        if len(self._lost) > MOST_LOST:
            del self._lost[next(iter(self._lost))]

    def _drop(self, key: int) -> int:
        """Make a free block, and all that follows it, blank; how many. None if any of them is in use."""
        if key not in self._references:
            return 0
        branch = [key]
        for block in branch:
            branch += self._children_of.get(block, ())
        if any(self._references[block] for block in branch):
            return 0
        for block in reversed(branch):
            self._unqueue(block)
            self._forget_block(block)
        self._release_private(len(branch))
        self.free -= len(branch)  # they were free before
        return len(branch)

    def _enqueue(self, key: int) -> None:
        if key in self._link_of:
            self._named[key] = 1
        else:
            super()._enqueue(key)

    def _unqueue(self, key: int) -> None:
        if key in self._named:
            del self._named[key]
        else:
            super()._unqueue(key)

    def _forget_block(self, key: int) -> None:
        super()._forget_block(key)
        self._children_of.pop(key, None)
        parent = self._parent_of.pop(key, None)
        if parent is not None and parent in self._children_of:
            self._children_of[parent].remove(key)
        link = self._link_of.pop(key, None)
        if link is not None:
            blocks = self._blocks_of[link]
            blocks.remove(key)
            if not blocks:
                del self._blocks_of[link]

    def _release_private(self, count: int) -> int:
        """Blank blocks are the first to be taken."""
        super()._release_private(count)
        self._queue.move_to_end(self._last_run, last=False)
        return 0
