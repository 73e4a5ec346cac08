"""Round robin: candidates in turn, counted per model."""

from dataclasses import dataclass
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
        return np.mod(np.arange(len(view), dtype=np.float64) - view.sequence, len(view))

    def choose(self, request: Request, view: View) -> Choice:
        return Choice(view.sequence % len(view), self.score(request, view), "turn")
