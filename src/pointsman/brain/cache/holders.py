"""Which nodes hold which links of prefix chains: one table from link to a bit mask of nodes.

Strategy: all nodes share one dictionary; the value is an integer with a bit per holder, and equal masks are one object.
What a node holds is closed under prefixes, so along a chain the set of holders only shrinks. `levels` therefore finds
each place where the set changes by binary search, not link by link: a few dozen look-ups for a 32k-token prompt,
every node's depth in one pass. A restarted node gets a fresh bit, which empties it at once; its old bit leaves the
`live` mask, and the links that still carry it are cleaned a few at a time by later insertions. For `Any` see
`believed.py`; masks that are stored are such, too, so that equal ones stay one object when this is compiled.

How it is known what a node holds is for those who inherit: from what was sent there (`index.py`), or from what the
node reports (`reported_index.py`).
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from math import inf
from typing import Any, Final

import numpy as np

from pointsman.brain.model.view import Floats, Rows

SMALL_FLEET: Final = 24
"""Up to so many bits, unpacking a mask in Python beats NumPy's fixed cost."""
FEW_HOLDERS: Final = 12
"""And so it does in a large fleet for a mask of no more holders."""
FEW_WRITES: Final = 2
"""Levels of more holders are written one after the other up to so many, beyond it all at once."""
SHORT_CHAIN: Final = 8
"""Up to so many links, walking along all is cheaper than a binary search."""
SPARSE_LEVELS: Final = 12
"""Levels found by binary search before the rest of the chain is walked link by link."""
MOST_UNPACKED: Final = 256
_INTERN_LIMIT: Final = 1 << 16


class Holders:
    """Rows are fleet rows; depths are counted in links. Of each row, `_links` has the links it holds as keys."""

    def __init__(self) -> None:
        self._masks: dict[Any, Any] = {}
        self._live = 0
        self._bit_of: dict[int, int] = {}
        self._links: dict[int, dict[Any, Any]] = {}
        self._rows = np.empty(0, dtype=np.intp)
        self._row_list: list[int] = []
        self._free_bits: list[int] = []
        self._sweeps: list[tuple[int, Iterator[int]]] = []
        self._interned: dict[Any, Any] = {}
        self._unpacked: dict[Any, Rows] = {}

    def __len__(self) -> int:
        """Entries in the table, those with only dead bits included until they are swept."""
        return len(self._masks)

    def __bool__(self) -> bool:
        return bool(self._masks)

    def remove(self, row: int) -> None:
        """Stop to track `row`: it holds nothing from now on, at the cost of one mask."""
        bit = self._bit_of.pop(row)
        links = self._links.pop(row)
        self._live &= ~(1 << bit)
        self._row_list[bit] = -1
        self._rows = np.array(self._row_list, dtype=np.intp)
        self._unpacked.clear()
        self._sweeps.append((bit, iter(links)))

    def levels(self, links: Sequence[Any]) -> list[tuple[int, int]]:
        """[(mask, depth)]: the holders whose depth is at least `depth`, masks strictly shrinking, depths rising."""
        found: list[tuple[int, int]] = []
        masks = self._masks
        start, end = 0, len(links)
        mask: Any = masks.get(links[0], 0) & self._live if end else 0
        while mask and len(found) < SPARSE_LEVELS:
            low, high = start + 1, end
            while low < high:
                middle = (low + high) >> 1
                if masks.get(links[middle], 0) & mask == mask:
                    low = middle + 1
                else:
                    high = middle
            found.append((mask, low))
            if low == end:
                return found
            start = low
            mask &= masks.get(links[low], 0)
        return self._walk(links, start, mask, found) if mask else found

    def _walk(self, links: Sequence[Any], start: int, mask: Any, found: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """The rest of `levels`, link by link: cheaper where the holders change at almost every link."""
        masks = self._masks
        for position in range(start, len(links)):
            rest = mask & masks.get(links[position], 0)
            if rest != mask:
                found.append((mask, position))
                mask = rest
                if not mask:
                    return found
        found.append((mask, len(links)))
        return found

    def depths(self, links: Sequence[int], rows: int, scale: float = 1.0, most: float = inf) -> Floats:
        """Leading links held by each of the first `rows` fleet rows: a float array of that length.

        Counted in units of which `scale` make a link (its tokens, say), and cut to `most`.
        """
        if len(self._row_list) <= SMALL_FLEET:
            listed = [0.0] * rows
            self.mark(listed, links, scale, most)
            return np.array(listed)
        levels = self.levels(links)
        large = 0
        while large < len(levels) and levels[large][0].bit_count() > FEW_HOLDERS:
            large += 1
        if large > FEW_WRITES:
            return self._unpack([(mask, min(most, depth * scale)) for mask, depth in levels], rows)
        depths: Floats = np.zeros(rows)
        for mask, depth in levels[:large]:
            depths[self._rows_of(mask)] = min(most, depth * scale)
        self._mark(depths, levels[large:], scale, most)
        return depths

    def mark(self, depths: list[float], links: Sequence[int], scale: float = 1.0, most: float = inf) -> None:
        """What `depths` answers, written into the list `depths` of zeros, one a row; cheaper for few nodes."""
        if not links:
            return
        if len(links) > SHORT_CHAIN:
            levels = self.levels(links)
        else:
            mask = self._masks.get(links[0], 0) & self._live
            levels = self._walk(links, 0, mask, []) if mask else []
        self._mark(depths, levels, scale, most)

    def _mark(self, depths: Any, levels: list[tuple[int, int]], scale: float, most: float) -> None:
        row_of = self._row_list
        rest = 0
        for mask, depth in reversed(levels):  # from the deepest: who is not marked yet is in `mask & ~rest`
            amount = float(min(most, depth * scale))
            last, rest = mask & ~rest, mask
            while last:
                low = last & -last
                depths[row_of[low.bit_length() - 1]] = amount
                last ^= low

    def _track(self, row: int, links: dict[Any, Any]) -> None:
        """Track `row`, which holds nothing yet, and whose links will be the keys of `links`."""
        bit = self._free_bits.pop() if self._free_bits else len(self._row_list)
        if bit == len(self._row_list):
            self._row_list.append(-1)
        self._row_list[bit] = row
        self._rows = np.array(self._row_list, dtype=np.intp)
        self._unpacked.clear()
        self._bit_of[row] = bit
        self._links[row] = links
        self._live |= 1 << bit

    def _hold(self, row: int, links: Sequence[Any]) -> None:
        masks = self._masks
        bit: Any = self._intern(1 << self._bit_of[row])
        for link in links:
            others = masks.setdefault(link, bit)
            if others is not bit:
                masks[link] = self._intern(others | bit)

    def _drop(self, row: int, links: Sequence[Any]) -> None:
        self._clear_bit(self._bit_of[row], links)

    def _clear_bit(self, bit: int, links: Sequence[Any]) -> None:
        """The node of `bit` does not hold these any more. Of most links it was the only holder."""
        masks = self._masks
        alone: Any = self._intern(1 << bit)
        keep: Any = ~(1 << bit)
        for link in links:
            mask = masks[link]
            if mask is not alone and (rest := mask & keep):
                masks[link] = self._intern(rest)
            else:
                del masks[link]

    def _intern(self, mask: Any) -> Any:
        """One object per distinct mask: most entries of a fleet share a few."""
        interned = self._interned
        if len(interned) > _INTERN_LIMIT:
            interned.clear()
        return interned.setdefault(mask, mask)

    def _sweep(self, budget: int) -> None:
        while self._sweeps and budget > 0:
            bit, links = self._sweeps[-1]
            batch = list(islice(links, budget))
            self._clear_bit(bit, batch)
            if len(batch) < budget:
                self._sweeps.pop()
                self._free_bits.append(bit)
            budget -= len(batch) + 1

    def _rows_of(self, mask: Any) -> Rows:
        """The rows of a mask of live bits; kept, for what all nodes begin with is asked for by every request."""
        rows = self._unpacked.get(mask)
        if rows is None:
            packed = np.frombuffer(mask.to_bytes((len(self._row_list) + 7) >> 3, "little"), dtype=np.uint8)
            flags = np.unpackbits(packed, count=len(self._row_list), bitorder="little")
            if len(self._unpacked) >= MOST_UNPACKED:
                self._unpacked.clear()
            rows = self._unpacked[mask] = self._rows[flags.nonzero()[0]]
        return rows

    def _unpack(self, levels: list[tuple[int, float]], rows: int) -> Floats:
        """Masks are nested, so the number of levels that hold a bit says which level is its deepest."""
        width = (len(self._row_list) + 7) >> 3
        packed = b"".join([mask.to_bytes(width, "little") for mask, _ in levels])
        bits = np.frombuffer(packed, dtype=np.uint8).reshape(len(levels), width)
        counts = np.unpackbits(bits, axis=1, count=len(self._row_list), bitorder="little").sum(axis=0, dtype=np.uint16)
        depth_of = np.array([0.0, *(depth for _, depth in levels)], dtype=np.float64)
        row_of = self._rows
        live = row_of >= 0
        depths = np.zeros(rows)
        depths[row_of[live]] = depth_of[counts[live]]
        return depths
