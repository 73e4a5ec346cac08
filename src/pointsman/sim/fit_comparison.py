"""Recorded timings beside those of simulated engines that were sent the same.

One step taken differently shifts many requests that follow, on a simulated engine as on a real one. So compared are not
single requests but groups: first tokens by how much of the prompt had to be computed, gaps between tokens by when they
came. The first tenth of each node's requests fills its batch and is not compared, and the last quarter is held out.
"""

from collections.abc import Callable, Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from pointsman.engine.profile import EngineProfile
from pointsman.engine.virtual import run
from pointsman.sim.timings import Timed

WARM_UP, FITTED = 0.10, 0.75
LEAST_SECONDS = 1e-4
GROUPS, GROUP_SIZE = 12, 4
"""At most so many of a kind, each of at least so many requests."""
LEAST_ERROR = 0.001
"""No group's mean is trusted to be nearer than this."""
OVERHEAD_UNIT_MS = 20.0

Vector = NDArray[np.float64]


class Constants(msgspec.Struct, frozen=True):
    """What is fitted. The scales are relative to the figures of the GPU."""

    overhead_ms: float = OVERHEAD_UNIT_MS
    bandwidth_scale: float = 1.0
    compute_scale: float = 1.0


class Errors(msgspec.Struct, frozen=True):
    """Means in seconds as recorded and simulated, and the median of absolute errors as shares of what was recorded."""

    requests: int
    recorded_s: float
    simulated_s: float
    median_error: float


class TooFew(ValueError):
    """There is nothing to fit to."""


Profile = Callable[[Constants], EngineProfile]


def constants(at: Vector) -> Constants:
    """What a point of the search stands for: the overhead in units of 20 ms, and logarithms of the scales."""
    return Constants(OVERHEAD_UNIT_MS * max(0.0, float(at[0])), float(np.exp(at[1])), float(np.exp(at[2])))


class Comparison:
    """Figures are in vectors: all TTFTs, then all TPOTs. Raises TooFew."""

    def __init__(self, nodes: Mapping[str, Sequence[Timed]], profile: Profile) -> None:
        self._nodes = list(nodes.values())
        self._profile = profile
        every = [one for timed in self._nodes for one in timed]
        self._recorded = np.array([one.ttft_s for one in every] + [one.tpot_s for one in every], dtype=float)
        self._is_ttft = np.arange(2 * len(every)) < len(every)
        place = np.concatenate([np.linspace(0, 1, len(timed)) for timed in self._nodes]) if every else np.empty(0)
        twice, known = np.tile(place, 2), self._recorded > LEAST_SECONDS
        self._fitted = known & (twice >= WARM_UP) & (twice < FITTED)
        self._held_out = known & (twice >= FITTED)
        fresh = np.array([one.fresh_tokens for one in every], dtype=float)
        self._groups = [
            *_groups(np.flatnonzero(self._fitted & self._is_ttft), np.tile(fresh, 2)),
            *_groups(np.flatnonzero(self._fitted & ~self._is_ttft), twice),
        ]

    @property
    def groups(self) -> int:
        """How many there are."""
        return len(self._groups)

    def means(self, at: Vector) -> Vector:
        """By group, the mean of log(simulated / recorded) over its middle half."""
        ratios = self._ratios(at)
        return np.array([_middle(ratios[group]).mean() for group in self._groups])

    def weights(self, at: Vector) -> Vector:
        """What each mean is worth, 1 on average: one over its standard error."""
        worth = 1 / np.sqrt(self.variances(at))
        return np.asarray(worth / worth.mean())

    def variances(self, at: Vector) -> Vector:
        """Of the means, as the scatter inside each group tells."""
        ratios = self._ratios(at)
        return np.array([max(ratios[group].var() / len(group), LEAST_ERROR**2) for group in self._groups])

    def errors(self, at: Vector, *, held_out: bool) -> dict[str, Errors]:
        """By figure, over the part that is fitted or the one held out."""
        simulated, part = self._simulated(at), self._held_out if held_out else self._fitted
        found = {}
        for name, which in (("ttft", self._is_ttft), ("tpot", ~self._is_ttft)):
            there = part & which
            if there.any():
                truth, ours = self._recorded[there], simulated[there]
                off = float(np.median(np.abs(ours / truth - 1)))
                found[name] = Errors(int(there.sum()), float(truth.mean()), float(ours.mean()), off)
        return found

    def _ratios(self, at: Vector) -> Vector:
        return np.asarray(np.log(np.maximum(self._simulated(at), LEAST_SECONDS) / self._recorded))

    def _simulated(self, at: Vector) -> Vector:
        profile = self._profile(constants(at))
        served = [one for timed in self._nodes for one in run(profile, ((each.at_s, each.sample) for each in timed))]
        return np.array([one.ttft for one in served] + [one.tpot for one in served])


def _middle(values: Vector) -> Vector:
    """Without the lowest and the highest quarter."""
    quarter = len(values) // 4
    return np.sort(values)[quarter : len(values) - quarter]


def _groups(which: NDArray[np.intp], by: Vector) -> list[NDArray[np.intp]]:
    """The numbers in `which`, in groups of equal size in the order of `by`. Raises TooFew."""
    count = min(GROUPS, len(which) // GROUP_SIZE)
    if count < 2:
        raise TooFew(f"{len(which)} streamed answers are too few to fit to; record {2 * GROUP_SIZE} or better hundreds")
    return np.array_split(which[np.argsort(by[which], kind="stable")], count)
