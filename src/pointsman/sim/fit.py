"""Fits an engine's few constants to recorded timings.

The model is the simulated engine itself: it is sent what the recording's nodes were sent, when they were sent it, and
its first tokens and gaps between tokens are compared with the recorded ones. So the batch that a request found, the
prompts that were prefilled beside it and what the cache held are all there, and nothing is fitted but what the engine's
formulas leave open: the API server's time per request, and how much of the memory's and the arithmetic's speed is
reached.

Least squares over groups of requests, by Gauss and Newton with differences for derivatives. From far away all groups
count alike; when near, more those whose requests agree with each other.
"""

from collections.abc import Callable, Mapping, Sequence

import msgspec
import numpy as np

from pointsman.sim.fit_comparison import (
    OVERHEAD_UNIT_MS,
    Comparison,
    Constants,
    Errors,
    Profile,
    Vector,
    constants,
)
from pointsman.sim.timings import Timed

PHASES = ((0.03, False), (0.03, True), (0.01, True), (0.003, True))
"""Differences for derivatives, far away more than a step taken differently and near the end less; and whether groups
are weighted."""
ROUNDS = 8
"""Of a phase, at most."""
CLOSE = 0.0005
"""A step that changes nothing by more than this share is the last of its phase."""
LONGEST_STEP = 0.7
"""A factor of two at a time."""
PRIOR = 1e-4
"""Weight, in groups, of the constants being what they were: decides where nothing else does."""


class Fit(msgspec.Struct, frozen=True):
    """The constants, how uncertain each is (one standard error: ms, shares of the scales), and errors by figure."""

    constants: Constants
    uncertain: Constants
    fitted: dict[str, Errors]
    held_out: dict[str, Errors]


def fit(nodes: Mapping[str, Sequence[Timed]], profile: Profile, told: Callable[[], None]) -> Fit:
    """The constants under which engines of `profile`, sent what `nodes` were, come nearest to what they took.

    `told` hears of each round. Raises TooFew.
    """
    comparison = Comparison(nodes, profile)
    at = np.array([1.0, 0.0, 0.0])
    for difference, weighted in PHASES:
        for _ in range(ROUNDS):
            told()
            at, arrived = _round(comparison, at, difference, weighted)
            if arrived:
                break
    overhead, bandwidth, compute = _standard_errors(comparison, at).tolist()
    return Fit(
        constants(at),
        Constants(OVERHEAD_UNIT_MS * overhead, bandwidth, compute),
        comparison.errors(at, held_out=False),
        comparison.errors(at, held_out=True),
    )


Residuals = Callable[[Vector], Vector]


def _round(comparison: Comparison, at: Vector, difference: float, weighted: bool) -> tuple[Vector, bool]:
    """A better point, and whether no better one is near."""
    weights = comparison.weights(at) if weighted else np.ones(comparison.groups)

    def residuals(there: Vector) -> Vector:
        return weights * comparison.means(there)

    here = residuals(at)
    slopes = _slopes(residuals, at, difference)
    step = np.clip(-np.linalg.solve(_normal(slopes), slopes.T @ here), -LONGEST_STEP, LONGEST_STEP)
    better = _along(residuals, at, here, step)
    return (at, True) if better is None else (better, bool(np.abs(step).max() < CLOSE))


def _slopes(residuals: Residuals, at: Vector, difference: float) -> Vector:
    """By group and coordinate, from both sides: that is true to the second order."""
    moves = difference * np.eye(len(at))
    return np.stack([(residuals(at + move) - residuals(at - move)) / (2 * difference) for move in moves], axis=1)


def _normal(slopes: Vector) -> Vector:
    return np.asarray(slopes.T @ slopes + PRIOR * np.eye(slopes.shape[1]))


def _along(residuals: Residuals, at: Vector, here: Vector, step: Vector) -> Vector | None:
    """The point along the step, halved as often as need be, that is better, if there is one."""
    for share in (1.0, 0.5, 0.25, 0.125):
        there = at + share * step
        there[0] = max(0.0, there[0])
        found = residuals(there)
        if found @ found < here @ here:
            return np.asarray(there)
    return None


def _standard_errors(comparison: Comparison, at: Vector) -> Vector:
    """Of the constants, from those of the groups' means; what no group tells is known to a factor of e, no nearer."""
    slopes = _slopes(comparison.means, at, PHASES[0][0])
    known = slopes.T @ (slopes / comparison.variances(at)[:, None]) + np.eye(slopes.shape[1])
    return np.asarray(np.sqrt(np.diag(np.linalg.inv(known))))
