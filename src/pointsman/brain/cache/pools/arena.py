"""The KV memory of one node whose engine lays blocks out otherwise than in pages: which lease holds which piece.

What finds no place is queued in the engine, in order: it gets its piece as soon as enough is given back, and until then
whoever comes later has to wait behind it.
"""

from collections.abc import Iterable

from pointsman.brain.cache.pools.layout import Layout, Piece
from pointsman.brain.model.view import LATER, NOW


class Arena:
    """Leases, by their ids, on one layout. Mutated only by the pool. Amounts are whole blocks."""

    __slots__ = ("_pieces", "_queued", "_sizes", "layout")

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._sizes: dict[int, int] = {}
        self._pieces: dict[int, Piece] = {}
        self._queued: dict[int, int] = {}

    def place(self, blocks: int) -> int:
        """Whether a request for `blocks` fits: NOW, LATER or NEVER. Nobody overtakes what the engine queues."""
        place = self.layout.place(blocks)
        return LATER if place == NOW and self._queued else place

    def place_without(self, blocks: int, leases: Iterable[int]) -> int:
        """The same if those leases were gone: tried on a copy."""
        trial = Arena(self.layout.copy())
        trial._sizes, trial._pieces, trial._queued = dict(self._sizes), dict(self._pieces), dict(self._queued)
        for lease in leases:
            trial.release(lease)
        return trial.place(blocks)

    def reserve(self, lease: int, blocks: int) -> int:
        """A piece for the lease, at once or when there is one; returns its size."""
        self._sizes[lease] = self._queued[lease] = blocks
        self._serve()
        return self.layout.granted(blocks)

    def release(self, lease: int) -> None:
        """The lease gives its piece back. One that began before this arena did holds none."""
        if self._sizes.pop(lease, None) is None:
            return
        self._queued.pop(lease, None)
        piece = self._pieces.pop(lease, None)
        if piece is not None:
            self.layout.give(piece)
        self._serve()

    def lay(self, layout: Layout) -> None:
        """What is held is held on another, empty layout from now on: the node has other memory than was thought."""
        self.layout = layout
        self._pieces.clear()
        self._queued = dict(self._sizes)
        self._serve()

    def leases(self) -> set[int]:
        """The ids of those who hold a piece, or wait for one in the engine."""
        return set(self._sizes)

    @property
    def held(self) -> int:
        """Blocks of the pieces that leases have."""
        return sum(piece[1] for piece in self._pieces.values())

    def _serve(self) -> None:
        """Give those who are queued their pieces, as far as there is room, in order."""
        for lease, blocks in list(self._queued.items()):
            piece = self.layout.take(blocks)
            if piece is None:
                return
            self._pieces[lease] = piece
            del self._queued[lease]
