"""Contiguous slabs of 2^k blocks, for engines whose kernels need a sequence's KV in one piece.

The buddy system (K. Knowlton, "A fast storage allocator", CACM 8(10), 1965): a request takes the smallest slab that
holds it, cut in halves from a larger one where need be; a slab given back joins its other half, its buddy, if that is
free too. A slab of order k begins at a multiple of 2^k, so the buddy's place differs in that one bit. A capacity that
is no power of two is a row of slabs of falling order, none of which is the buddy of another.
"""

from bisect import insort

from pointsman.brain.cache.pools.layout import Layout, Piece


class Buddy(Layout):
    """A piece's place is its first block. Of equal slabs the lowest is taken, so that the high ones stay whole."""

    __slots__ = ("_free", "_slabs", "_taken")

    def __init__(self, capacity: int) -> None:
        super().__init__(capacity)
        self._slabs: list[list[int]] = [[] for _ in range(capacity.bit_length())]
        self._taken: dict[int, int] = {}
        self._free = capacity
        start = 0
        for order in reversed(range(capacity.bit_length())):
            if capacity >> order & 1:
                self._slabs[order].append(start)
                start += 1 << order

    def copy(self) -> "Buddy":
        other = Buddy(self.capacity)
        other._slabs = [list(slabs) for slabs in self._slabs]
        other._taken, other._free = dict(self._taken), self._free
        return other

    def granted(self, blocks: int) -> int:
        return 1 << _order(blocks)

    def most(self, blocks: int) -> int:  # noqa: ARG002 - all requests are of one kind
        return 1 << self.capacity.bit_length() >> 1

    def largest(self, blocks: int) -> int:  # noqa: ARG002
        orders = (order for order in reversed(range(len(self._slabs))) if self._slabs[order])
        order = next(orders, -1)
        return 1 << order if order >= 0 else 0

    def free(self) -> int:
        return self._free

    def take(self, blocks: int) -> Piece | None:
        wanted = _order(blocks)
        order = next((order for order in range(wanted, len(self._slabs)) if self._slabs[order]), -1)
        if order < 0:
            return None
        start = self._slabs[order].pop(0)
        while order > wanted:
            order -= 1
            insort(self._slabs[order], start + (1 << order))
        self._taken[start] = order
        self._free -= 1 << order
        return start, 1 << order

    def give(self, piece: Piece) -> None:
        start, blocks = piece
        order = self._taken.get(start, -1)
        if order < 0 or blocks != 1 << order:
            raise ValueError(f"no slab of {blocks} blocks is taken at block {start}")
        del self._taken[start]
        self._free += blocks
        while start ^ 1 << order in self._slabs[order]:
            self._slabs[order].remove(start ^ 1 << order)
            start &= ~(1 << order)
            order += 1
        insort(self._slabs[order], start)


def _order(blocks: int) -> int:
    """The least k with 2^k >= blocks."""
    return (max(1, blocks) - 1).bit_length()
