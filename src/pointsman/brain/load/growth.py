"""How fast a node's queue grows: a node that falls behind is seen before its queue is long."""

from collections.abc import MutableSequence
from math import exp, isnan, nan
from typing import Final

from pointsman.brain.model.view import Floats

SAMPLE_S: Final = 1.0
"""Often enough for what is smoothed over several seconds."""


class QueueGrowth:
    """Writes `out`: the rise of outstanding requests per second, smoothed over `smooth_s` seconds."""

    def __init__(self, out: MutableSequence[float], smooth_s: float = 5.0) -> None:
        if smooth_s <= 0.0:
            raise ValueError(f"smooth_s must be above 0, not {smooth_s}")
        self._out = out
        self._smooth_s = smooth_s
        self._last = [nan] * len(out)
        self._sampled_at: float | None = None

    def start(self, row: int) -> None:
        """A new node takes the row: it has no past."""
        self._last[row] = nan
        self._out[row] = 0.0

    def sample(self, outstanding: Floats, now: float) -> None:
        """Outstanding requests of the first len(outstanding) rows at `now`. No effect within SAMPLE_S of the last."""
        elapsed = SAMPLE_S if self._sampled_at is None else now - self._sampled_at
        if elapsed < SAMPLE_S:
            return
        self._sampled_at = now
        out, last, weight = self._out, self._last, 1.0 - exp(-elapsed / self._smooth_s)
        for row, queue in enumerate(outstanding.tolist()):
            rise = 0.0 if isnan(last[row]) else (queue - last[row]) / elapsed
            out[row] += (rise - out[row]) * weight
            last[row] = queue
