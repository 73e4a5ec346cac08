"""How many requests of one class are under way at a time: arrivals and stays, each averaged exponentially.

By Little's law arrivals a second times the mean stay are the requests present (J. Little, Operations Research 9, 1961).
They vary by about the square root of that, so as much again is kept for the peaks (the square-root rule of staffing:
S. Halfin and W. Whitt, Operations Research 29, 1981).
"""

from math import ceil, exp, inf, sqrt

STAY_WEIGHT = 0.1
"""Of the newest stay in the mean."""
LEAST = 0.05
"""Fewer requests present than this are none."""


class Demand:
    """One class's averages. Times in seconds. `seen_at`: when the last request came; inf before the first."""

    __slots__ = ("_count", "_counted_at", "_stay", "seen_at")

    def __init__(self) -> None:
        self._count = 0.0
        self._counted_at = 0.0
        self._stay = 0.0
        self.seen_at = inf

    def arrived(self, memory_s: float, now: float) -> None:
        """A request came; those before fade over `memory_s`."""
        self._count = self._faded(memory_s, now) + 1.0
        self._counted_at = self.seen_at = now

    def stayed(self, seconds: float) -> None:
        """A request ended that had held memory for so long."""
        self._stay += (STAY_WEIGHT if self._stay else 1.0) * (seconds - self._stay)

    def rate(self, memory_s: float, now: float) -> float:
        """Arrivals per second of late."""
        return self._faded(memory_s, now) / memory_s

    def present(self, memory_s: float, now: float) -> int:
        """Requests to be ready for at a time."""
        mean = self.rate(memory_s, now) * self._stay
        return ceil(mean + sqrt(mean)) if mean >= LEAST else 0

    def _faded(self, memory_s: float, now: float) -> float:
        return self._count * exp(-(now - self._counted_at) / memory_s)
