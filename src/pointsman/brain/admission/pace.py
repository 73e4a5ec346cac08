"""How fast a queue moves, and so how long a place in it is expected to take.

What is to come is foretold by as much of what was: the wait of the hundredth by the last hundred placements, that of
the next by the last few, since one alone says little. A mean of fixed memory would be nervous for a long queue, or slow
for a short one. A queue that has stood still for longer than a placement took so far moves no faster than that: when
nodes fail, a burst of placements says nothing of what follows.
"""

from collections import deque

FEWEST = 10
"""Placements that are looked back upon even for the first in the queue."""
MOST = 512
"""Placements that are remembered."""


class Pace:
    """When the last placements were, on a clock that runs while somebody waits: other times say nothing."""

    def __init__(self) -> None:
        self._waited = 0.0
        self._since: float | None = None
        self._placed_at: deque[float] = deque((0.0,), MOST + 1)

    def begins(self, now: float) -> None:
        """Somebody waits from now on, after nobody did."""
        self._since = now

    def placed(self, now: float, left: bool) -> None:
        """One who waited was placed; `left` tells whether others still wait."""
        if self._since is not None:
            self._waited += max(0.0, now - self._since)
            self._placed_at.append(self._waited)
        self._since = now if left else None

    def expect(self, position: int, now: float) -> float | None:
        """Seconds from `now` until the one at `position` (1 = next) is placed; None before anything was learned."""
        known = len(self._placed_at) - 1
        if not known:
            return None
        back = min(known, max(FEWEST, position))
        span = self._placed_at[-1] - self._placed_at[-1 - back]
        still = 0.0 if self._since is None else now - self._since
        if still * back > span:
            return position * (span + still) / (back + 1)
        return position * span / back
