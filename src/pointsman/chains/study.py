"""Policies compared on the same chains and the same jobs, at several loads, over several seeds."""

from collections.abc import Callable, Sequence
from math import sqrt

import msgspec
import numpy as np

from pointsman.brain.policies.base import Policy
from pointsman.chains.bounds import Bounds, bounds, capacity_rate
from pointsman.chains.model import Chain
from pointsman.chains.simulation import Jobs, poisson_jobs, responses
from pointsman.workload.streams import stream

_WARM_UP = 0.1
"""Share of the jobs, from the first on, that meet a system not yet in its steady state: they are not measured."""

_T95 = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26)
"""Student's t for a two-sided 95 % interval, by degrees of freedom from 1; beyond, the next column's 2.26 is close."""


class Conditions(msgspec.Struct, frozen=True):
    """`jobs` in each run, first `seed` and number of `seeds`; `slowdown` as in `responses`."""

    jobs: int
    seed: int
    seeds: int
    slowdown: float = 0.0


class Mean(msgspec.Struct, frozen=True):
    """Mean response in seconds, and half of its 95 % interval over seeds (None with a single one)."""

    policy: str
    mean_s: float
    half_width_s: float | None


class AtLoad(msgspec.Struct, frozen=True):
    """All policies at one load. `bounds` hold for `fastest_free`; None where a job slows those beside it."""

    load: float
    rate: float
    bounds: Bounds | None
    means: tuple[Mean, ...]


def study(
    chains: Sequence[Chain],
    policies: Sequence[Policy],
    rates: Sequence[float],
    conditions: Conditions,
    tick: Callable[[], None] = lambda: None,
) -> tuple[AtLoad, ...]:
    """One entry for each of `rates` (jobs per second); `tick` is called after each run.

    A seed has the same jobs for all policies, and for all rates but for their pace.
    """
    return tuple(_at(chains, policies, rate, conditions, tick) for rate in rates)


def _at(
    chains: Sequence[Chain], policies: Sequence[Policy], rate: float, conditions: Conditions, tick: Callable[[], None]
) -> AtLoad:
    demands = [
        (seed, poisson_jobs(stream(seed, "chains"), rate, conditions.jobs))
        for seed in range(conditions.seed, conditions.seed + conditions.seeds)
    ]

    def mean(policy: Policy, seed: int, jobs: Jobs) -> float:
        seconds = responses(chains, policy, jobs, seed=seed, slowdown=conditions.slowdown)
        tick()
        return float(seconds[int(_WARM_UP * len(seconds)) :].mean())

    means = tuple(_mean(policy.name, [mean(policy, *demand) for demand in demands]) for policy in policies)
    load = rate / capacity_rate(chains, conditions.slowdown)
    limits = bounds(chains, rate) if load < 1.0 and not conditions.slowdown else None
    return AtLoad(load, rate, limits, means)


def _mean(policy: str, by_seed: Sequence[float]) -> Mean:
    count = len(by_seed)
    if count < 2:
        return Mean(policy, by_seed[0], None)
    t = _T95[min(count - 1, len(_T95)) - 1]
    return Mean(policy, float(np.mean(by_seed)), t * float(np.std(by_seed, ddof=1)) / sqrt(count))
