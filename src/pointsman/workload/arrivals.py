"""When requests (or sessions) arrive: renewal processes of a given mean rate and burstiness."""

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
    moments = np.empty(0)
    reached = 0.0
    while reached < seconds:
        gaps = rng.gamma(shape, 1 / (rate * shape), size=max(16, int(rate * (seconds - reached) * 1.2)))
        moments = np.concatenate([moments, reached + np.cumsum(gaps)])
        reached = float(moments[-1])
    return moments[moments < seconds]
