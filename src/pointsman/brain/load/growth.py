"""How fast a node's queue grows: a node that falls behind is seen before its queue is long."""

from math import exp

import numpy as np

from pointsman.brain.model.view import Floats

SAMPLE_S = 1.0
"""Often enough for what is smoothed over several seconds."""


class QueueGrowth:
    """Writes `out`: the rise of outstanding requests per second, smoothed over `smooth_s` seconds."""

    def __init__(self, out: Floats, smooth_s: float = 5.0) -> None:
        if smooth_s <= 0.0:
            raise ValueError(f"smooth_s must be above 0, not {smooth_s}")
        self._out = out
        self._smooth_s = smooth_s
        self._last: Floats = np.full(len(out), np.nan)
        self._sampled_at: float | None = None

    def start(self, row: int) -> None:
        """A new node takes the row: it has no past."""
        self._last[row] = np.nan
        self._out[row] = 0.0

    def sample(self, outstanding: Floats, now: float) -> None:
        """Outstanding requests of the first len(outstanding) rows at `now`. No effect within SAMPLE_S of the last."""
        rows = len(outstanding)
        if self._sampled_at is not None:
            elapsed = now - self._sampled_at
            if elapsed < SAMPLE_S:
                return
            rise = (outstanding - self._last[:rows]) / elapsed
            out = self._out[:rows]
            out += (np.where(np.isfinite(rise), rise, 0.0) - out) * (1.0 - exp(-elapsed / self._smooth_s))
        self._last[:rows] = outstanding
        self._sampled_at = now
