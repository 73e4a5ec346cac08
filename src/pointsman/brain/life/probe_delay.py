"""Which probes came back abnormally late.

A node whose event loop starves or whose machine swaps still answers its probes, only slowly. A delay is abnormal when
it is beyond a second and far beyond what is usual, both for the node itself and for its peers: a fleet that is slow to
answer as a whole, and a node that always was, are left alone. An abnormal delay is no part of what is usual.
"""

from collections import deque
from statistics import median

REMEMBERED = 16
"""Good probes of one node whose median is its usual delay."""
LEAST_KNOWN = 3
"""Fewest of them that tell what is usual."""
LEAST_SECONDS = 1.0
"""No delay below this is abnormal: the least node answers its probes beside its work."""
FACTOR = 8.0
"""A delay of so many medians is far outside: probes in a busy network spread by a factor of 2 to 4."""


class ProbeDelays:
    """Delays of good probes by row, in seconds."""

    def __init__(self) -> None:
        self._seen: dict[int, deque[float]] = {}

    def forget(self, row: int) -> None:
        """The node has left."""
        self._seen.pop(row, None)

    def abnormal(self, row: int, seconds: float) -> bool:
        """Whether a probe that took so long, to be answered or to fail, was abnormally late."""
        return seconds > LEAST_SECONDS and seconds > FACTOR * self._usual(row)

    def observe(self, row: int, seconds: float) -> None:
        """One good probe."""
        if not self.abnormal(row, seconds):
            self._seen.setdefault(row, deque(maxlen=REMEMBERED)).append(seconds)

    def _usual(self, row: int) -> float:
        """The longer of the node's own median delay and its peers'; infinite while neither is known."""
        own = self._seen.get(row, ())
        peers = [median(seen) for other, seen in self._seen.items() if other != row and len(seen) >= LEAST_KNOWN]
        known = [median(own)] if len(own) >= LEAST_KNOWN else []
        known += [median(peers)] if peers else []
        return max(known, default=float("inf"))
