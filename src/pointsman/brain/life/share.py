"""The part of its room that a node may fill, lowered before it fails.

`excess` is the natural logarithm of how many times worse a node is than its peers: slower, or with a longer queue.

    share = exp(−excess), within LEAST..1, once excess exceeds BEGIN and until it is below END

so a node five times slower than its peers gets a fifth. It falls at once and rises slowly: the queue a node had is gone
as soon as it gets less, and would be back.
"""

from collections.abc import Mapping
from math import exp, log

BEGIN = log(3.0)
"""Three times worse than the peers is beyond what chance and an uneven load do to a healthy node."""
END = log(1.5)
LEAST = 0.1
"""Some work always goes there, or nobody would notice that the node is well again."""


class Shares:
    """By fleet row; 1 for all that are not lowered."""

    def __init__(self) -> None:
        self._shares: dict[int, float] = {}
        self._worse: set[int] = set()

    def __bool__(self) -> bool:
        """Whether any is lowered."""
        return bool(self._shares)

    @property
    def lowered(self) -> tuple[int, ...]:
        """The rows whose share is below 1."""
        return tuple(self._shares)

    def of(self, row: int) -> float:
        return self._shares.get(row, 1.0)

    def forget(self, row: int) -> None:
        """The node has left."""
        self._shares.pop(row, None)
        self._worse.discard(row)

    def renew(self, excess: Mapping[int, float], rise: float) -> None:
        """Follow `excess` by row (0 for those it lacks); shares that rise do so by no more than `rise`."""
        if not (self._shares or self._worse) and max(excess.values(), default=0.0) <= BEGIN:
            return
        for row in sorted(excess.keys() | self._shares.keys()):
            share = min(self._due(row, excess.get(row, 0.0)), self.of(row) + rise)
            if share < 1.0:
                self._shares[row] = share
            else:
                self._shares.pop(row, None)

    def _due(self, row: int, excess: float) -> float:
        if excess > (END if row in self._worse else BEGIN):
            self._worse.add(row)
            return max(LEAST, exp(-excess))
        self._worse.discard(row)
        return 1.0
