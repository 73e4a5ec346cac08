"""Three learned rates for each node, written into three columns of the fleet.

Beside the regression stands an alarm. It smooths the logarithm of measured/predicted, where what takes less than is
usual counts for less: it may be all base, and says little of the other rates. When that leaves the band of ordinary
noise the node is taken to have changed as a whole, and with each of the next samples the regression's past
is rescaled by what the residual says. So a sudden change is followed within a handful of samples, although the
regression's memory is long.

Until a node has data of its own it uses the average of the nodes of its kind that have, else its prior.
"""

from collections.abc import MutableSequence
from math import exp, log
from typing import Final

from pointsman.brain.load.regression import RelativeRegression, Triple

ALARM_WEIGHT: Final = 0.3
"""Weight of the newest residual: 97 % of a sudden change is followed within ten samples."""

ALARM_ABOVE: Final = log(1.5)
"""A smoothed residual of 50 % is more than three standard deviations of 30 % noise."""

ALARM_SAMPLES: Final = 8
"""How long an alarm lasts: what one sample in it leaves of the error, 70 %, to this power is 6 %."""

SHARE_EVERY: Final = 16
"""Samples of one node between two updates of those of its kind that have none."""

SHARE_EARLY: Final = (1, 2, 4, 8)
"""And its first few: a prior far from the truth on the slow side would keep the others from ever being tried."""

Column = MutableSequence[float]
"""One quantity, a cell a row."""


class _Node:
    """One row's regression and alarm."""

    __slots__ = ("_alarm", "_residual", "_usual", "fit", "kind", "samples")

    def __init__(self, kind: str, prior: Triple, scale: Triple) -> None:
        self.kind = kind
        self.fit = RelativeRegression(prior, scale)
        self.samples = 0
        self._residual = 0.0
        self._usual = 0.0
        self._alarm = 0  # samples it still lasts

    def observe(self, x: Triple, seconds: float) -> float:
        """Learn one sample; returns measured/predicted before it."""
        ratio = self.fit.ratio(x, seconds)
        most = max(self.fit.predict(x), seconds)
        self._usual += ALARM_WEIGHT * (most - self._usual)
        self._heed(log(ratio), min(1.0, most / self._usual))
        self.fit.observe(x, seconds)
        self.samples += 1
        return ratio

    def _heed(self, residual: float, weight: float) -> None:
        self._residual += ALARM_WEIGHT * weight * (residual - self._residual)
        if abs(self._residual) > ALARM_ABOVE:
            self._alarm = ALARM_SAMPLES
        if self._alarm:
            self._alarm -= 1
            self.fit.rescale(exp(self._residual))
            self._residual = 0.0


class Rates:
    """Rates by row, each written to one of the three columns `out` (seconds per unit of its feature)."""

    def __init__(self, out: tuple[Column, Column, Column]) -> None:
        self._out = out
        self._nodes: dict[int, _Node] = {}

    def start(self, row: int, kind: str, prior: Triple, scale: Triple) -> None:
        """A node of `kind` takes the row; the average of its kind, or `prior`, is what it starts from."""
        self._nodes[row] = _Node(kind, self._average(kind) or prior, scale)
        self._write(row)

    def forget(self, row: int) -> None:
        """The node has left; its row may be used again. Its figures become 0."""
        self._nodes.pop(row, None)
        for column in self._out:
            column[row] = 0.0

    def observe(self, row: int, x: Triple, seconds: float) -> float:
        """Features `x` took `seconds` on `row`. Returns measured/predicted. Raises KeyError for a row not started."""
        node = self._nodes[row]
        ratio = node.observe(x, seconds)
        self._write(row)
        if node.samples % SHARE_EVERY == 0 or node.samples in SHARE_EARLY:
            self._share(node.kind)
        return ratio

    def rescale(self, row: int, factor: float) -> None:
        """All rates of the row are taken to be `factor` times what they were. Raises KeyError for a row not started."""
        self._nodes[row].fit.rescale(factor)
        self._write(row)

    def _write(self, row: int) -> None:
        first, second, third = self._out
        first[row], second[row], third[row] = self._nodes[row].fit.rates

    def _average(self, kind: str) -> Triple | None:
        """The mean rates of the nodes of `kind` that have data; None for none."""
        known = [node.fit.rates for node in self._nodes.values() if node.kind == kind and node.samples]
        if not known:
            return None
        first, second, third = (sum(rates) / len(known) for rates in zip(*known, strict=True))
        return first, second, third

    def _share(self, kind: str) -> None:
        new = [row for row, node in self._nodes.items() if node.kind == kind and not node.samples]
        average = self._average(kind) if new else None
        if average is not None:
            for row in new:
                self._nodes[row].fit.rebase(average)
                self._write(row)
