"""From scores to one candidate. Ties break at random: a fixed tie-break would send every burst to the first node.

On the few rows of a fleet NumPy's `argmin` costs a seventh of `min`, `max` or `all`; hence `least`,
`greatest` and `every`.
"""

from typing import NoReturn

import numpy as np

from pointsman.brain.model.choice import Scores
from pointsman.brain.model.draw import again, below
from pointsman.brain.model.view import Flags, Floats, View

_FEW = 48
"""Up to so many candidates a list is searched sooner than an array."""


def lowest(scores: Scores | list[float], draw: int) -> int:
    """Index of the least score; among equals a uniform draw. `scores` must not be empty."""
    ties = _lowest(scores)
    return ties[0] if len(ties) < 2 else ties[below(draw, len(ties))]


def least_of(scores: list[float], view: View) -> int:
    """Index of the least score; among equals by the view's draw, which is worked out only for these.

    Raises ValueError where the least is no number.
    """
    least, first, ties = scores[0], 0, 1
    for index in range(1, len(scores)):
        score = scores[index]
        if score < least:
            least, first, ties = score, index, 1
        elif score == least:
            ties += 1
    if least != least:
        return _no_number(first)
    return first if ties < 2 else _lowest_listed(scores)[below(view.draw, ties)]


def lowest_then(scores: Scores | list[float], second: Floats | list[float], draw: int) -> int:
    """Index of the least score; among equals the least `second`; among those a uniform draw."""
    ties = _lowest(scores)
    if len(ties) < 2:
        return ties[0]
    return ties[lowest([second[index] for index in ties] if isinstance(second, list) else second[ties], draw)]


def two_of(candidates: int, draw: int) -> tuple[int, int]:
    """Two distinct uniform indexes, or the same one twice when there is only one candidate."""
    if candidates == 1:
        return 0, 0
    first = below(draw, candidates)
    second = below(again(draw), candidates - 1)
    return first, second + (second >= first)


def lower_of_two(scores: Scores, draw: int) -> int:
    """The lower-scored of two random candidates (Mitzenmacher 2001); the first drawn wins ties."""
    first, second = two_of(len(scores), draw)
    return second if scores[second] < scores[first] else first


def tiered(scores: Scores, preferred: Flags, otherwise: Floats) -> Scores:
    """`scores` where `preferred`; the rest ranks behind all of them, among itself by `otherwise` (>= 0)."""
    if every(preferred):
        return scores
    ranked: Scores = np.where(preferred, scores, greatest(scores) + 1.0 + otherwise)
    return ranked


def least(values: Floats) -> float:
    """The smallest value."""
    return values.item(values.argmin())


def greatest(values: Floats) -> float:
    """The largest value."""
    return values.item(values.argmax())


def every(flags: Flags) -> bool:
    """Whether all flags are set."""
    return flags.item(flags.argmin())


def _lowest(scores: Scores | list[float]) -> list[int]:
    """The indexes of the least score. Raises ValueError where that is no number."""
    if isinstance(scores, list):
        return _lowest_listed(scores)
    if len(scores) <= _FEW:
        return _lowest_listed(scores.tolist())
    first = scores.argmin()
    ties: list[int] = (scores == scores[first]).nonzero()[0].tolist()
    return ties or _no_number(int(first))


def _lowest_listed(scores: list[float]) -> list[int]:
    least = min(scores)
    if least != least:  # which it is where the first one is: nothing is less than that
        return _no_number(0)
    first = scores.index(least)
    if scores.count(least) == 1:
        return [first]
    return [index for index, score in enumerate(scores) if score == least]


def _no_number(index: int) -> NoReturn:
    raise ValueError(f"the score of candidate {index} is not a number")
