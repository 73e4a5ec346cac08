"""When requests (or sessions) arrive.

Renewal processes of a given mean rate and burstiness (Poisson, gamma, Weibull); Poisson processes whose rate moves, by
a ramp or between the states of a Markov chain; a real trace's at another rate. All return ascending seconds in
[0, seconds).
"""

from collections.abc import Callable, Sequence
from math import gamma

import numpy as np
from numpy.typing import NDArray


def poisson_arrivals(rng: np.random.Generator, rate: float, seconds: float) -> NDArray[np.float64]:
    """Ascending arrival seconds in [0, seconds) at a mean of `rate` per second: exponential gaps."""
    return gamma_arrivals(rng, rate, seconds, cv=1.0)


def gamma_arrivals(rng: np.random.Generator, rate: float, seconds: float, *, cv: float) -> NDArray[np.float64]:
    """Ascending arrival seconds in [0, seconds): gaps of mean 1/rate from a gamma law.

    `cv` is the coefficient of variation of the gaps: 1 is Poisson, above 1 bursty (production traces: 1.2 and
    more), below 1 regular. Raises ValueError unless rate, seconds and cv are positive.
    """
    if rate <= 0 or seconds <= 0 or cv <= 0:
        raise ValueError(f"rate {rate}, seconds {seconds} and cv {cv} must be positive")
    shape = 1 / cv**2
    return _renewed(lambda size: rng.gamma(shape, 1 / (rate * shape), size), rate, seconds)


def weibull_arrivals(rng: np.random.Generator, rate: float, seconds: float, *, shape: float) -> NDArray[np.float64]:
    """Gaps of mean 1/rate from a Weibull law: `shape` 1 is Poisson, below 1 bursty with a heavier tail than gamma's.

    Raises ValueError unless rate, seconds and shape are positive.
    """
    if rate <= 0 or seconds <= 0 or shape <= 0:
        raise ValueError(f"rate {rate}, seconds {seconds} and shape {shape} must be positive")
    scale = 1 / (rate * gamma(1 + 1 / shape))
    return _renewed(lambda size: scale * rng.weibull(shape, size), rate, seconds)


def ramp_arrivals(rng: np.random.Generator, first: float, last: float, seconds: float) -> NDArray[np.float64]:
    """A Poisson process whose rate goes in a straight line from `first` to `last` per second.

    Unit-rate arrivals are carried back through the mean number of arrivals up to each moment (time rescaling).
    Raises ValueError unless the rates are not negative, one is positive, and seconds is positive.
    """
    if first < 0 or last < 0 or first + last <= 0 or seconds <= 0:
        raise ValueError(f"a ramp from {first} to {last} per second over {seconds} s has no arrivals")
    expected = (first + last) / 2 * seconds
    unit = poisson_arrivals(rng, 1.0, expected)
    slope = (last - first) / seconds
    if slope == 0:
        return unit / first
    return (np.sqrt(np.maximum(first**2 + 2 * slope * unit, 0.0)) - first) / slope


def modulated_arrivals(
    rng: np.random.Generator, rates: Sequence[float], dwell_s: float, seconds: float
) -> NDArray[np.float64]:
    """A Poisson process whose rate jumps between `rates` (per second): from each state to any other alike.

    Stays last `dwell_s` on average, exponentially; the first state is drawn. Raises ValueError for fewer than two
    rates, a negative one, none positive, or non-positive times.
    """
    if len(rates) < 2 or min(rates) < 0 or max(rates) <= 0 or dwell_s <= 0 or seconds <= 0:
        raise ValueError(f"rates {list(rates)}, dwell {dwell_s} s and {seconds} s make no modulated process")
    state, now = int(rng.integers(len(rates))), 0.0
    parts = [np.empty(0)]
    while now < seconds:
        until = min(now + float(rng.exponential(dwell_s)), seconds)
        parts.append(np.sort(rng.uniform(now, until, int(rng.poisson(rates[state] * (until - now))))))
        state, now = int((state + rng.integers(1, len(rates))) % len(rates)), until
    return np.concatenate(parts)


def retimed_arrivals(
    rng: np.random.Generator, moments: NDArray[np.float64], rate: float, seconds: float
) -> NDArray[np.float64]:
    """The gaps between `moments` (ascending), all stretched alike to a mean of `rate` per second.

    They begin somewhere among them, drawn, and go round where they do not suffice. Raises ValueError unless the moments
    span some time, and rate and seconds are positive.
    """
    span = float(moments[-1] - moments[0]) if len(moments) else 0.0
    if span <= 0 or rate <= 0 or seconds <= 0:
        raise ValueError(f"{len(moments)} moments over {span} s make no arrivals at {rate} per second for {seconds} s")
    gaps = np.append(np.diff(moments), span / (len(moments) - 1))
    gaps *= 1 / (rate * gaps.mean())
    gaps = np.roll(gaps, -int(rng.integers(len(gaps))))
    return _renewed(lambda size: np.resize(gaps, len(gaps) * -(-size // len(gaps))), rate, seconds)


def _renewed(draw: Callable[[int], NDArray[np.float64]], rate: float, seconds: float) -> NDArray[np.float64]:
    """Arrivals in [0, seconds) from the gaps that `draw(size)` gives, drawn in as many pieces as it takes."""
    moments = np.empty(0)
    reached = 0.0
    while reached < seconds:
        gaps = draw(max(16, int(rate * (seconds - reached) * 1.2)))
        moments = np.concatenate([moments, reached + np.cumsum(gaps)])
        reached = float(moments[-1])
    return moments[moments < seconds]
