"""How long each engine's own queue is against those of its peers.

    excess = ln(1 + waiting/running) − median of the peers' ln(1 + waiting/running)

An engine whose queue grows holds more than it can compute, whatever its slots were believed to be. A report catches
one moment, and a burst that has just come waits too: so the shorter of an engine's last two queues counts. Only engines
that tell their queue have one here, and only they are peers.
"""

from collections.abc import Mapping
from math import log

from pointsman.brain.load.slowness import above_others


class Queueing:
    """By fleet row, as of each engine's last two reports; an engine that has made one only has no queue yet."""

    def __init__(self) -> None:
        self._last: dict[int, float] = {}
        self._lengths: dict[int, float] = {}
        self._excess: dict[int, float] | None = {}

    def observe(self, row: int, running: int, waiting: int) -> None:
        """The engine runs and queues so many requests."""
        length = log(1.0 + waiting / max(1, running))
        self._lengths[row] = min(length, self._last.get(row, 0.0))
        self._last[row] = length
        self._excess = None

    def forget(self, row: int) -> None:
        """The node has left, or its queue with a restart."""
        self._last.pop(row, None)
        self._lengths.pop(row, None)
        self._excess = None

    def excess(self) -> Mapping[int, float]:
        """By row, where that is known. Worked out anew only after a report."""
        if self._excess is None:
            self._excess = above_others(self._lengths) if len(self._lengths) > 1 else {}
        return self._excess
