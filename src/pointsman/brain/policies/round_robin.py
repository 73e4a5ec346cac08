"""Round robin: candidates in turn, counted per model."""

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from pointsman.brain.model.choice import Choice, Scores
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import View
from pointsman.brain.policies.base import Policy


@dataclass(frozen=True, slots=True)
class RoundRobin(Policy):
    """The candidate whose turn it is: (row − sequence) mod n, so a score of 0 is next."""

    name: ClassVar[str] = "round_robin"

    def score(self, request: Request, view: View) -> Scores:
        candidates = len(view)
        first = -view.sequence % candidates
        return _two_rounds(candidates)[first : first + candidates]

    def choose(self, request: Request, view: View) -> Choice:
        return Choice(view.sequence % len(view), self.score(request, view), "turn")


@lru_cache
def _two_rounds(candidates: int) -> Scores:
    """0 to `candidates` − 1, twice: whoever's turn it is, the scores of all are a part of it."""
    turns: Scores = np.tile(np.arange(candidates, dtype=np.float64), 2)
    turns.flags.writeable = False
    return turns
