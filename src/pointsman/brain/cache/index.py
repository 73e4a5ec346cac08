"""Which nodes are believed to hold which prefixes, from the prompts that were sent there.

The table is that of `holders.py`; what a node has lost to later prompts says the LRU model of `believed.py`.
"""

from collections.abc import Sequence
from typing import Final

from mypy_extensions import mypyc_attr

from pointsman.brain.cache.believed import Believed, Touch
from pointsman.brain.cache.holders import Holders

SWEEP_FACTOR: Final = 2
"""Links cleaned of dead bits per link inserted: the cleaning stays ahead of any insertions, and off the clock."""


@mypyc_attr(acyclic=True)
class Insertion:
    """What one insertion did: its touch, `prolonged` so often by then, and how many leading links were held before."""

    __slots__ = ("known", "prolonged", "touch")

    def __init__(self, touch: Touch, known: int) -> None:
        self.touch = touch
        self.prolonged = touch.prolonged
        self.known = known


class PrefixIndex(Holders):
    """Holders of links in believed mode, each with room for so many."""

    def __init__(self) -> None:
        super().__init__()
        self._held: dict[int, Believed] = {}

    def add(self, row: int, capacity: int) -> None:
        """Start to track `row`, holding nothing, with room for `capacity` links."""
        self._held[row] = held = Believed(capacity)
        self._track(row, held.owner)

    def remove(self, row: int) -> None:
        """Stop to track `row`: it holds nothing from now on, at the cost of one mask."""
        super().remove(row)
        del self._held[row]

    def clear(self, row: int) -> None:
        """The node at `row` lost its cache (restart, reset)."""
        capacity = self._held[row].capacity
        self.remove(row)
        self.add(row, capacity)

    def put(self, row: int, held: Believed) -> None:
        """What `row` holds is kept in `held` from now on, which holds nothing yet."""
        self.remove(row)
        self._held[row] = held
        self._track(row, held.owner)

    def lose(self, row: int, links: Sequence[int]) -> None:
        """What `row` is kept in has dropped these."""
        self._drop(row, links)

    def resize(self, row: int, capacity: int) -> None:
        """The room of `row` is now `capacity` links; the least recent beyond it are dropped."""
        self._drop(row, self._held[row].shrink(capacity))

    def held(self, row: int) -> int:
        """Links held at `row`."""
        return len(self._held[row])

    def capacity(self, row: int) -> int:
        """Room of `row` in links."""
        return self._held[row].capacity

    def newest(self, row: int, links: int) -> list[Sequence[int]]:
        """The chains sent to `row` of late, oldest first, as far as they are held: up to so many links in all."""
        return self._held[row].newest_chains(links)

    def depth(self, row: int, links: Sequence[int]) -> int:
        """Leading links held by `row`."""
        return self._held[row].depth(links)

    def insert(self, row: int, links: Sequence[int]) -> Insertion:
        """The node at `row` is sent a prompt with this chain: it holds the chain from now on, as most recent."""
        if self._sweeps:
            self._sweep(SWEEP_FACTOR * len(links))
        held = self._held[row]
        known = held.depth(links)
        evicted = held.touch(links, known)
        if known < len(links):
            self._hold(row, links[known : held.capacity])
        if evicted:
            self._drop(row, evicted)
        touch = held.newest
        assert touch is not None
        return Insertion(touch, known)

    def undo(self, row: int, links: Sequence[int], insertion: Insertion) -> None:
        """The prompt was not computed at `row`: drop what `insertion` of `links` added and no later one covers."""
        added = links[insertion.known :]
        self._drop(row, self._held[row].undo(insertion.touch, added, insertion.prolonged))
