"""One simulated chain: the jobs it runs, and those that wait for it in order of arrival."""

from collections import deque
from heapq import heappop, heappush
from math import inf

from pointsman.chains.model import Chain


class Lane:
    """Every running job gets the same speed: 1/T alone, and `slowdown` of T more time for each job beside it.

    Strategy: `_work` counts what a job that was here all along would have got. A job ends when that has grown by the
    job's size since it began, so jobs end in order of these marks, whatever the speed does meanwhile.
    """

    __slots__ = ("_capacity", "_running", "_seconds", "_since", "_slowdown", "_waiting", "_work")

    def __init__(self, chain: Chain, slowdown: float) -> None:
        self._capacity = chain.capacity
        self._seconds = chain.seconds
        self._slowdown = slowdown
        self._running: list[tuple[float, int]] = []
        self._waiting: deque[tuple[float, int]] = deque()
        self._work = 0.0
        self._since = 0.0

    def __len__(self) -> int:
        """Jobs here, running and waiting."""
        return len(self._running) + len(self._waiting)

    def add(self, job: int, size: float, now: float) -> None:
        """The job runs at once if a slot is free, else it waits. `size`: its part of the mean service."""
        if len(self._running) < self._capacity:
            self._advance(now)
            heappush(self._running, (self._work + size, job))
        else:
            self._waiting.append((size, job))

    def next_end(self) -> float:
        """When the next job will have ended, if nothing changes; infinite without one."""
        if not self._running:
            return inf
        return self._since + (self._running[0][0] - self._work) * self._unit_seconds()

    def end(self, now: float) -> int:
        """The job whose `next_end` is now ends, and the first that waits begins; returns the job."""
        mark, job = self._running[0]
        self._advance(now)
        self._work = mark
        heappop(self._running)
        if self._waiting:
            size, following = self._waiting.popleft()
            heappush(self._running, (mark + size, following))
        return job

    def _advance(self, now: float) -> None:
        if self._running:
            self._work += (now - self._since) / self._unit_seconds()
        self._since = now

    def _unit_seconds(self) -> float:
        """Seconds for a job of mean size, as things are."""
        return self._seconds * (1.0 + self._slowdown * (len(self._running) - 1))
