"""How an engine lays its KV blocks out, as one interface: what may be taken now, taking it, and giving it back.

A layout knows blocks and no requests. It asks first (`place`) and then acts (`take`): the question mutates nothing.
"""

from pointsman.brain.model.view import LATER, NEVER, NOW

Piece = tuple[int, int]
"""Where it is, in whatever way its layout counts places, and how many blocks it has."""


class Layout:
    """Base of all layouts of `capacity` blocks (>= 0). `take` and `give` mutate; all amounts are whole blocks."""

    __slots__ = ("capacity",)

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity

    def granted(self, blocks: int) -> int:
        """How many blocks a request for `blocks` takes, all rounding done."""
        raise NotImplementedError

    def most(self, blocks: int) -> int:
        """The largest request of the kind of `blocks` that the empty node would hold."""
        raise NotImplementedError

    def largest(self, blocks: int) -> int:
        """The largest request of the kind of `blocks` that it would hold now."""
        raise NotImplementedError

    def free(self) -> int:
        """Blocks that nobody holds, in one piece or not."""
        raise NotImplementedError

    def take(self, blocks: int) -> Piece | None:
        """Take a piece for `blocks` (>= 1), or None where there is no place for it now."""
        raise NotImplementedError

    def give(self, piece: Piece) -> None:
        """Give a piece back. Raises ValueError, and changes nothing, for one that is not taken."""
        raise NotImplementedError

    def copy(self) -> "Layout":
        """Another one in the same state, to try things on."""
        raise NotImplementedError

    def place(self, blocks: int) -> int:
        """Whether a request for `blocks` fits: NOW, LATER or NEVER."""
        if blocks <= self.largest(blocks):
            return NOW
        return LATER if blocks <= self.most(blocks) else NEVER
