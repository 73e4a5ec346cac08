"""How long prompts and answers are: a lognormal body with a Pareto tail, the shape production traces show."""

from typing import Annotated

import msgspec
import numpy as np
from numpy.typing import NDArray


class Lengths(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A law of token counts.

    `median` and `sigma` (of the logarithm) shape the body; a draw belongs to the tail with probability `tail_share`,
    and is then Pareto with index `tail_index`, beginning at the body's 90 % quantile. Every draw is clipped to
    [least, most] tokens.
    """

    median: Annotated[float, msgspec.Meta(gt=0)]
    sigma: Annotated[float, msgspec.Meta(ge=0)] = 0.5
    tail_share: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.0
    tail_index: Annotated[float, msgspec.Meta(gt=1)] = 2.0
    least: Annotated[int, msgspec.Meta(ge=1)] = 1
    most: Annotated[int, msgspec.Meta(ge=1)] = 1_000_000

    def draw(self, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
        """`size` token counts. Takes three draws each from `rng`, whatever the parameters."""
        body = self.median * np.exp(self.sigma * rng.standard_normal(size))
        in_tail = rng.random(size) < self.tail_share
        tail = self.median * np.exp(1.2816 * self.sigma) * (1 + rng.pareto(self.tail_index, size))
        return np.clip(np.rint(np.where(in_tail, tail, body)), self.least, self.most).astype(np.int64)
