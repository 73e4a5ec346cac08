"""Mean seconds a request spends on a node, from dispatch to its end: 1/μ_j."""

from collections.abc import MutableSequence
from typing import Final

FIRST_GUESS_S: Final = 1.0
"""Before any request has ended anywhere: all nodes alike, which is all that ranking needs."""


class ServiceTime:
    """Writes `out` (seconds). A node's own mean has a memory of 1/`weight` requests; before it, it follows the fleet's.

    Were it left at the mean of the moment it joined, the first node measured would look faster than all that were not.
    """

    def __init__(self, out: MutableSequence[float], weight: float = 0.05) -> None:
        if not 0.0 < weight <= 1.0:
            raise ValueError(f"weight must be in (0, 1], not {weight}")
        self._out = out
        self._weight = weight
        self._samples = [0] * len(out)
        self._unmeasured: set[int] = set()
        self._fleet = FIRST_GUESS_S
        self._fleet_samples = 0

    def start(self, row: int) -> None:
        """A new node takes the row."""
        self._samples[row] = 0
        self._unmeasured.add(row)
        self._out[row] = self._fleet

    def observe(self, row: int, seconds: float) -> None:
        """One request ended after `seconds`. A node's first few count for more, but the fleet's mean is one of them."""
        samples = self._samples[row] = self._samples[row] + 1
        self._unmeasured.discard(row)
        self._out[row] += (seconds - self._out[row]) * max(self._weight, 1.0 / (1.0 + samples))
        self._fleet_samples += 1
        self._fleet += (seconds - self._fleet) * max(self._weight / 4.0, 1.0 / self._fleet_samples)
        for other in self._unmeasured:
            self._out[other] = self._fleet
