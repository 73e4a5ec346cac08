"""The law of arrivals as a setting: its name, its parameters, and how it draws."""

from typing import Annotated, Literal

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from .arrivals import gamma_arrivals, modulated_arrivals, poisson_arrivals, ramp_arrivals, weibull_arrivals

LawName = Literal["poisson", "gamma", "weibull", "modulated", "ramp"]
_Level = Annotated[float, Meta(ge=0)]


class Arrivals(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How something arrives around a mean rate that others say. Each parameter belongs to one law."""

    law: Annotated[LawName, Meta(description="law of the gaps, or of the rate")] = "poisson"
    cv: Annotated[float, Meta(gt=0, le=100, description="gamma: coefficient of variation of the gaps")] = 2.0
    shape: Annotated[float, Meta(ge=0.1, le=100, description="weibull: shape; below 1 is bursty")] = 0.6
    levels: Annotated[
        tuple[_Level, ...], Meta(min_length=2, description="modulated: rates it jumps between, beside each other")
    ] = (0.4, 3.0)
    dwell_s: Annotated[float, Meta(gt=0, description="modulated: mean seconds at one level")] = 20.0
    first: Annotated[float, Meta(ge=0, description="ramp: the rate at the beginning, beside the end's")] = 0.2
    last: Annotated[float, Meta(ge=0, description="ramp: the rate at the end")] = 1.8

    def __post_init__(self) -> None:
        if max(self.levels) <= 0 or self.first + self.last <= 0:
            raise ValueError("one of the rates must be above 0")

    def draw(self, rng: np.random.Generator, rate: float, seconds: float) -> NDArray[np.float64]:
        """Ascending seconds in [0, seconds), `rate` a second on average. Raises ValueError unless both are above 0."""
        if self.law == "gamma":
            return gamma_arrivals(rng, rate, seconds, cv=self.cv)
        if self.law == "weibull":
            return weibull_arrivals(rng, rate, seconds, shape=self.shape)
        if self.law == "modulated":
            unit = rate * len(self.levels) / sum(self.levels)
            return modulated_arrivals(rng, [unit * level for level in self.levels], self.dwell_s, seconds)
        if self.law == "ramp":
            unit = 2 * rate / (self.first + self.last)
            return ramp_arrivals(rng, unit * self.first, unit * self.last, seconds)
        return poisson_arrivals(rng, rate, seconds)
