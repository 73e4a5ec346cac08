"""How long each engine's own queue is against those of its peers.

    excess = ln(1 + waiting/running) − median of the peers' ln(1 + waiting/running)

An engine whose queue grows holds more than it can compute, whatever its slots were believed to be. Only engines that
tell their queue have one here, and only they are peers.
"""

from math import log

import numpy as np

from pointsman.brain.load.slowness import median_of_others


class Queueing:
    """By fleet row, as of each engine's last report."""

    def __init__(self) -> None:
        self._lengths: dict[int, float] = {}

    def observe(self, row: int, running: int, waiting: int) -> None:
        """The engine runs and queues so many requests."""
        self._lengths[row] = log(1.0 + waiting / max(1, running))

    def forget(self, row: int) -> None:
        """The node has left, or its queue with a restart."""
        self._lengths.pop(row, None)

    def excess(self) -> dict[int, float]:
        """By row, where that is known."""
        if len(self._lengths) < 2:
            return {}
        lengths = np.array(list(self._lengths.values()))
        return dict(zip(self._lengths, (lengths - median_of_others(lengths)).tolist(), strict=True))
