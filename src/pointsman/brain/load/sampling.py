"""Which of many answers are learned from: a node that gives hundreds a second teaches no more by all than by some.

Estimators remember some tens of samples. At PER_SECOND that is a few seconds, well below anything that acts on what is
learned, so more samples would cost time and tell nothing. A node that was quiet has BURST samples in hand.
"""

from typing import Final

PER_SECOND: Final = 20.0
BURST: Final = 64
"""More than the memory of a regression or the samples that make a yardstick."""


class Sampling:
    """A bucket of samples for each row (the generic cell rate algorithm). `rows` is the capacity of the fleet."""

    def __init__(self, rows: int) -> None:
        self._paid_until = [0.0] * rows

    def start(self, row: int, now: float) -> None:
        """A new node takes the row: its bucket is full."""
        self._paid_until[row] = now

    def take(self, row: int, now: float) -> bool:
        """Whether to learn from what the row shows at `now` (seconds)."""
        paid_until = max(now, self._paid_until[row])
        if paid_until - now > (BURST - 1) / PER_SECOND:
            return False
        self._paid_until[row] = paid_until + 1.0 / PER_SECOND
        return True
