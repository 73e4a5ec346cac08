"""The pace at which a node's load falls, from samples some seconds apart.

Of the last `window` changes the newest weighs 0.6 and what came before 0.4, again split 0.6 to 0.4, and so on; the
oldest takes what is left, so that the weights sum to 1.
"""

import numpy as np

from pointsman.brain.model.view import Floats

NEWEST = 0.6


class RecoverySlope:
    """Writes `out`: the smoothed fall of load per second, positive while a node recovers.

    A sample is due every `sample_s` seconds; `window` changes are remembered (6 x 10 s: the last minute).
    """

    def __init__(self, out: Floats, sample_s: float = 10.0, window: int = 6) -> None:
        if sample_s <= 0.0 or window < 1:
            raise ValueError("sample_s must be above 0 and window at least 1")
        self._out = out
        self._sample_s = sample_s
        self._falls: Floats = np.zeros((window, len(out)))
        self._last: Floats = np.full(len(out), np.nan)
        self._sampled_at: float | None = None
        weights: Floats = np.multiply(NEWEST, (1.0 - NEWEST) ** np.arange(window))
        weights[-1] = 1.0 - weights[:-1].sum()
        self._weights = weights

    def start(self, row: int) -> None:
        """A new node takes the row: it has no past."""
        self._last[row] = np.nan
        self._falls[:, row] = 0.0
        self._out[row] = 0.0

    def due(self, now: float) -> bool:
        """Whether a sample is due."""
        return self._sampled_at is None or now - self._sampled_at >= self._sample_s

    def sample(self, load: Floats, now: float) -> None:
        """The load of the first len(load) rows at `now`. A row's first sample only sets its starting point."""
        rows = len(load)
        if self._sampled_at is not None and now > self._sampled_at:
            fall = (self._last[:rows] - load) / (now - self._sampled_at)
            self._falls[1:, :rows] = self._falls[:-1, :rows]
            self._falls[0, :rows] = np.where(np.isfinite(fall), fall, 0.0)
            self._out[:rows] = self._weights @ self._falls[:, :rows]
        self._last[:rows] = load
        self._sampled_at = now
