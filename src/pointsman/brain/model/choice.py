"""A policy's answer: a choice, or that the request is held."""

from typing import Any, SupportsIndex

import numpy as np
from mypy_extensions import mypyc_attr
from numpy.typing import NDArray

Scores = NDArray[np.float64]


@mypyc_attr(acyclic=True)
class Answer:
    """What a choice and a hold have in common. Nothing is to be changed in it, nor in the scores it was given.

    `scores` has one row per candidate, lower is better; `reason` is one word; `memo` is handed to the following views
    of the same model until an answer leaves another; None leaves it as it is. Scores may be given as a list, which
    becomes an array when they are asked for: on the few candidates of a small fleet that costs more than the choice.
    """

    __slots__ = ("given", "memo", "reason")

    def __init__(self, scores: Scores | list[float], reason: str, memo: Any = None) -> None:
        self.given = scores
        self.reason = reason
        self.memo = memo

    @property
    def scores(self) -> Scores:
        return np.array(self.given) if isinstance(self.given, list) else self.given

    def kept(self) -> Scores | list[float]:
        """The scores as they are now, whatever becomes of the fleet, a column of which they may be."""
        given = self.given
        return given if isinstance(given, list) or given.base is None else given.copy()


@mypyc_attr(acyclic=True)
class Choice(Answer):
    """Place the request on candidate `index` (a row of the view, not of the fleet)."""

    __slots__ = ("index",)

    def __init__(self, index: SupportsIndex, scores: Scores | list[float], reason: str, memo: Any = None) -> None:
        super().__init__(scores, reason, memo)
        self.index = int(index)


@mypyc_attr(acyclic=True)
class Hold(Answer):
    """Place nothing now: the request waits in the queue until something changes."""

    __slots__ = ()
