"""Two pools, one for short requests and one for long ones: neither can take what is the other's.

A single long context can hold as much as hundreds of short requests. Apart, the short ones find room whatever long ones
wait, and the holes that short ones leave are no trouble to the long.
"""

from pointsman.brain.cache.pools.layout import Layout, Piece
from pointsman.brain.cache.pools.paged import Paged


class SizeClass(Layout):
    """Requests of up to `split` blocks share `short` (0..1) of the capacity, longer ones the rest.

    A piece's place is its class, 0 for short ones.
    """

    __slots__ = ("_classes", "_split")

    def __init__(self, capacity: int, split: int, short: float) -> None:
        super().__init__(capacity)
        self._split = split
        for_short = round(capacity * short)
        self._classes = (Paged(for_short), Paged(capacity - for_short))

    def copy(self) -> "SizeClass":
        other = SizeClass(self.capacity, self._split, 0.0)
        short, rest = self._classes
        other._classes = short.copy(), rest.copy()
        return other

    def granted(self, blocks: int) -> int:
        return blocks

    def most(self, blocks: int) -> int:
        return self._classes[blocks > self._split].capacity

    def largest(self, blocks: int) -> int:
        return self._classes[blocks > self._split].free()

    def free(self) -> int:
        short, long = self._classes
        return short.free() + long.free()

    def take(self, blocks: int) -> Piece | None:
        number = int(blocks > self._split)
        return None if self._classes[number].take(blocks) is None else (number, blocks)

    def give(self, piece: Piece) -> None:
        self._classes[piece[0]].give(piece)
