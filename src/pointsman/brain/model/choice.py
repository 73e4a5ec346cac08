"""A policy's answer."""

from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]


class Choice(msgspec.Struct, frozen=True, gc=False):
    """Place the request on candidate `index` (a row of the view, not of the fleet).

    `scores` has one row per candidate, lower is better; `reason` is one word; `memo` is handed to the following views
    of the same model until a choice leaves another; None leaves it as it is.
    """

    index: int
    scores: Scores
    reason: str
    memo: Any = None


class Hold(msgspec.Struct, frozen=True, gc=False):
    """Place nothing now: the request waits in the queue until something changes."""

    scores: Scores
    reason: str
    memo: Any = None
