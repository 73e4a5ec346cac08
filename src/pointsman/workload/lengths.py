"""How long prompts and answers are: a lognormal body with a Pareto tail, the shape production traces show, or what was
measured somewhere."""

from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

_Positive = Annotated[float, Meta(gt=0)]


class Lengths(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A law of token counts: a `median` and what spreads around it, or `quantiles`.

    `median` and `sigma` (of the logarithm) shape the body; a draw belongs to the tail with probability `tail_share`,
    and is then Pareto with index `tail_index`, beginning at the body's 90 % quantile. `quantiles` are the token counts
    that evenly spaced shares of all stay below, from none to all; between them, draws are even. Every draw is clipped
    to [least, most] tokens.
    """

    median: _Positive | None = None
    sigma: Annotated[float, Meta(ge=0)] = 0.5
    tail_share: Annotated[float, Meta(ge=0, le=1)] = 0.0
    tail_index: Annotated[float, Meta(gt=1)] = 2.0
    quantiles: tuple[_Positive, ...] = ()
    least: Annotated[int, Meta(ge=1)] = 1
    most: Annotated[int, Meta(ge=1)] = 1_000_000

    def __post_init__(self) -> None:
        if (self.median is None) == (not self.quantiles):
            raise ValueError("lengths have either a `median` or `quantiles`")
        if len(self.quantiles) == 1 or list(self.quantiles) != sorted(self.quantiles):
            raise ValueError("`quantiles` are two or more, and ascend")
        if self.least > self.most:
            raise ValueError(f"no length is between {self.least} and {self.most}")

    def draw(self, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
        """`size` token counts. Takes three draws each from `rng`, whatever the parameters."""
        normal, uniform, pareto = rng.standard_normal(size), rng.random(size), rng.pareto(self.tail_index, size)
        if self.median is None:
            drawn = np.interp(uniform, np.linspace(0.0, 1.0, len(self.quantiles)), self.quantiles)
        else:
            tail = self.median * np.exp(1.2816 * self.sigma) * (1 + pareto)
            drawn = np.where(uniform < self.tail_share, tail, self.median * np.exp(self.sigma * normal))
        return np.clip(np.rint(drawn), self.least, self.most).astype(np.int64)
