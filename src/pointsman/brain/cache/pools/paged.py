"""Blocks behind a page table: any free ones will do, so a sum is all there is to know.

W. Kwon et al., "Efficient memory management for large language model serving with PagedAttention", SOSP 2023.
"""

from pointsman.brain.cache.pools.layout import Layout, Piece


class Paged(Layout):
    """A count of blocks. Pieces have no place."""

    __slots__ = ("_taken",)

    def __init__(self, capacity: int) -> None:
        super().__init__(capacity)
        self._taken = 0

    def copy(self) -> "Paged":
        other = Paged(self.capacity)
        other._taken = self._taken
        return other

    def granted(self, blocks: int) -> int:
        return blocks

    def most(self, blocks: int) -> int:  # noqa: ARG002 - all requests are of one kind
        return self.capacity

    def largest(self, blocks: int) -> int:  # noqa: ARG002
        return self.free()

    def free(self) -> int:
        return self.capacity - self._taken

    def take(self, blocks: int) -> Piece | None:
        if blocks > self.free():
            return None
        self._taken += blocks
        return 0, blocks

    def give(self, piece: Piece) -> None:
        blocks = piece[1]
        if blocks > self._taken:
            raise ValueError(f"{blocks} blocks are given back, but only {self._taken} are taken")
        self._taken -= blocks
