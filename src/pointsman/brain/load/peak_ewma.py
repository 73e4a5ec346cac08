"""Peak EWMA of the seconds from dispatch to the first byte, one figure a node.

After Twitter Finagle's `p2c_peak_ewma`: a sample above the figure becomes the figure at once, a sample below pulls it
down with weight 1 − exp(−Δt/τ), Δt since the node's last sample. A node is unsampled once its last sample is τ old;
then its figure decays towards the fleet's median, so that a node shunned for one bad answer is tried again.
"""

from collections.abc import MutableSequence
from math import exp, inf
from typing import Final

from pointsman.brain.load.median import median

REFRESH_S: Final = 1.0
"""Often enough for a decay of many seconds."""

FIRST_GUESS_S: Final = 0.1
"""Stands for the median while no node has answered yet; any equal positive figure would do."""


class PeakEwma:
    """Writes `out` (seconds, one cell a row). `decay_s` is τ, which may be changed."""

    def __init__(self, out: MutableSequence[float], decay_s: float = 10.0) -> None:
        if decay_s <= 0.0:
            raise ValueError(f"decay_s must be above 0, not {decay_s}")
        self._out = out
        self.decay_s = decay_s
        self._sampled_at = [-inf] * len(out)
        self._seen = [False] * len(out)
        self._median = FIRST_GUESS_S
        self._refreshed_at = -inf

    def start(self, row: int, now: float) -> None:
        """A new node takes the row: it starts at the fleet's median."""
        self._seen[row] = False
        self._sampled_at[row] = now
        self._out[row] = self._median

    def forget(self, row: int) -> None:
        """The node has left: it is no part of the median any more."""
        self._seen[row] = False

    def observe(self, row: int, seconds: float, now: float) -> None:
        """One answer. The node's first sets the figure."""
        old = self._out[row]
        if self._seen[row] and seconds < old:
            kept = exp(-max(0.0, now - self._sampled_at[row]) / self.decay_s)
            seconds += (old - seconds) * kept
        self._out[row] = seconds
        self._sampled_at[row] = now
        self._seen[row] = True

    def refresh(self, now: float, rows: int) -> None:
        """Decay the unsampled among the first `rows` rows; nothing if it was done less than REFRESH_S ago."""
        elapsed = now - self._refreshed_at
        if elapsed < REFRESH_S:
            return
        self._refreshed_at = now
        seen, out = self._seen, self._out
        known = [out[row] for row in range(rows) if seen[row]]
        if not known:
            return
        middle = self._median = median(known)
        kept, stale = exp(-elapsed / self.decay_s), now - self.decay_s
        for row in range(rows):
            if not seen[row]:
                out[row] = middle
            elif self._sampled_at[row] <= stale:
                out[row] = middle + (out[row] - middle) * kept
