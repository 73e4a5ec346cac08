"""From scores to one candidate. Ties break at random: a fixed tie-break would send every burst to the first node."""

from pointsman.brain.model.choice import Scores
from pointsman.brain.model.draw import again, below


def lowest(scores: Scores, draw: int) -> int:
    """Index of the least score; among equals a uniform draw. `scores` must not be empty."""
    best = int(scores.argmin())
    ties = (scores == scores[best]).nonzero()[0]
    return best if len(ties) < 2 else int(ties[below(draw, len(ties))])


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
