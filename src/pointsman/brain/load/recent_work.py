"""Seconds of work sent to a node of late: what it has been given, whether or not it is done with it.

A sliding window in parts: the work of the part that is under way and of the whole parts before it. Adding costs the
same however much was sent, and when a part is over the sums are made anew, so that no rounding error gathers.
"""

from array import array

import numpy as np

from pointsman.brain.model.view import Floats


class RecentWork:
    """Writes `out` (seconds): the work of the last `window_s` seconds, give or take a part (`window_s`/`parts`)."""

    def __init__(self, out: "array[float]", window_s: float = 180.0, parts: int = 12) -> None:
        if window_s <= 0.0 or parts < 2:
            raise ValueError(f"window_s must be above 0 and parts at least 2, not {window_s} and {parts}")
        self._out = out
        self._part_s = window_s / parts
        self._current = array("d", bytes(8 * len(out)))
        self._past: Floats = np.zeros((parts - 1, len(out)))
        self._oldest = 0
        self._part = 0

    def start(self, row: int) -> None:
        """A new node takes the row: it was given nothing yet."""
        self._past[:, row] = 0.0
        self._current[row] = self._out[row] = 0.0

    def add(self, row: int, seconds: float) -> None:
        """A request of so many seconds was sent to the row."""
        self._current[row] += seconds
        self._out[row] += seconds

    def refresh(self, now: float, rows: int) -> None:
        """Let what is older than the window go, for the first `rows` rows; nothing while a part is under way."""
        over = int(now // self._part_s) - self._part
        if over <= 0:
            return
        self._part += over
        for _ in range(min(over, len(self._past) + 1)):
            self._turn(rows)
        np.frombuffer(self._out)[:rows] = self._past[:, :rows].sum(axis=0)

    def _turn(self, rows: int) -> None:
        """The part under way is over and takes the oldest one's place."""
        current = np.frombuffer(self._current)[:rows]
        self._past[self._oldest, :rows] = current
        current[:] = 0.0
        self._oldest = (self._oldest + 1) % len(self._past)
