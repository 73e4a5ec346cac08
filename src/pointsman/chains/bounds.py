"""Mean response time of the fastest free chain: what it is at least, and at most.

T. Sun, T. He, I.-H. Hou (2026), theorem 4, for Poisson arrivals and exponential job sizes. With n jobs in the system,
jobs end fastest when they fill the slots from the fastest chain down (a lower bound on occupancy, hence by Little's law
on response), slowest when they fill them from the slowest up (an upper bound). Either is a birth-death chain with a
geometric tail. Strategy: state probabilities are products of hundreds of ratios, so they are kept as logarithms.
"""

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from pointsman.brain.model.view import Floats
from pointsman.chains.model import Chain


class Bounds(msgspec.Struct, frozen=True):
    """Seconds of response, waiting included."""

    lower_s: float
    upper_s: float


def capacity_rate(chains: Iterable[Chain], slowdown: float = 0.0) -> float:
    """Jobs per second that the chains serve at most: what they must be sent less than.

    `slowdown`: how much of its mean service a job takes longer for each job that runs beside it on its chain.
    """
    return sum(chain.rate / (1.0 + slowdown * (chain.capacity - 1)) for chain in chains)


def bounds(chains: Sequence[Chain], rate: float) -> Bounds:
    """Both bounds at `rate` jobs per second, which must be above zero and below the chains' `capacity_rate`."""
    slowest_first = sorted((1.0 / chain.seconds, chain.capacity) for chain in chains)
    rates, slots = np.array([mu for mu, _ in slowest_first]), [capacity for _, capacity in slowest_first]
    by_slot = np.repeat(rates, slots)
    lower = _occupancy(by_slot[::-1].cumsum(), rate) / rate
    return Bounds(lower, _occupancy(by_slot.cumsum(), rate) / rate)


def _occupancy(death_rates: Floats, rate: float) -> float:
    """Mean jobs in a birth-death chain with births at `rate`; deaths with 1, 2, ... jobs, the last for all beyond."""
    slots, load = len(death_rates), rate / float(death_rates[-1])
    logs = np.concatenate(([0.0], np.cumsum(np.log(rate) - np.log(death_rates))))
    weights = np.exp(logs - logs.max())
    full = float(weights[-1])
    total = float(weights[:-1].sum()) + full / (1.0 - load)
    occupied = float(np.arange(slots) @ weights[:-1]) + full * (load / (1.0 - load) ** 2 + slots / (1.0 - load))
    return occupied / total
