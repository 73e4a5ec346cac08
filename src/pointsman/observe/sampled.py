"""Samples as columns: figures of hundreds of thousands of requests are made of arrays, not request by request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .comparison import Sample, Window

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]
NOWHERE = -1


@dataclass(frozen=True, slots=True)
class Sampled:
    """One row a request, in the order given. Seconds since the run began; NaN in `first_s` where no token came.

    `node`: which of the nodes it was asked about, by place; NOWHERE for any other.
    """

    sent_s: Numbers
    first_s: Numbers
    done_s: Numbers
    ok: Flags
    streamed: Flags
    prompt_tokens: Numbers
    cached_tokens: Numbers
    output_tokens: Numbers
    node: NDArray[np.intp]

    @classmethod
    def of(cls, samples: Sequence[Sample], nodes: Sequence[str]) -> Sampled:
        """The columns of `samples`."""
        places = {name: place for place, name in enumerate(nodes)}
        return cls(
            np.array([one.sent_s for one in samples], dtype=float),
            np.array([one.first_s for one in samples], dtype=float),  # None becomes NaN
            np.array([one.done_s for one in samples], dtype=float),
            np.array([one.ok for one in samples], dtype=bool),
            np.array([one.streamed for one in samples], dtype=bool),
            np.array([one.prompt_tokens for one in samples], dtype=float),
            np.array([one.cached_tokens for one in samples], dtype=float),
            np.array([one.output_tokens for one in samples], dtype=float),
            np.array([places.get(one.node, NOWHERE) for one in samples], dtype=np.intp),
        )

    def __len__(self) -> int:
        return len(self.sent_s)

    def sent_in(self, window: Window) -> Flags:
        """Which were sent in the window."""
        return (self.sent_s >= window.start_s) & (self.sent_s < window.end_s)

    def only(self, rows: Flags) -> Self:
        """Those rows, in their order."""
        return type(self)(*(getattr(self, column.name)[rows] for column in fields(self)))

    @property
    def ttft_s(self) -> Numbers:
        """Seconds to the first token, or as long as was waited for one."""
        return np.where(np.isnan(self.first_s), self.done_s, self.first_s) - self.sent_s

    @property
    def tpot_s(self) -> Numbers:
        """Seconds per output token after the first; NaN for answers of one token and for failed ones."""
        further = np.where(self.ok & (self.output_tokens >= 2), self.output_tokens - 1, np.nan)
        return (self.done_s - self.first_s) / further

    @property
    def e2e_s(self) -> Numbers:
        """Seconds from sending to the end."""
        return self.done_s - self.sent_s

    @property
    def work_tokens(self) -> Numbers:
        """Tokens its node computed: the part of the prompt that was not cached, and the answer."""
        return self.prompt_tokens - self.cached_tokens + self.output_tokens


def mean(values: Numbers) -> float | None:
    """The mean of the numbers among `values`; None of none."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else None


def quantile(values: Numbers, share: float) -> float | None:
    """The value that `share` of the numbers among `values` do not exceed; None of none."""
    known = values[~np.isnan(values)]
    return float(np.quantile(known, share)) if known.size else None
