"""Weighted random: a candidate is drawn with probability proportional to its speed."""

from dataclasses import dataclass
from typing import ClassVar

from pointsman.brain.model.choice import Choice, Scores
from pointsman.brain.model.draw import unit
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import View
from pointsman.brain.policies.base import Policy


@dataclass(frozen=True, slots=True)
class WeightedRandom(Policy):
    """P(j) = speed_j / Σ speed. The score is −speed_j: what is drawn most often scores lowest."""

    name: ClassVar[str] = "weighted_random"

    def score(self, request: Request, view: View) -> Scores:
        return -view.speed

    def choose(self, request: Request, view: View) -> Choice:
        scores = self.score(request, view)
        edges = scores.cumsum()
        reached = int((-edges).searchsorted(unit(view.draw) * -float(edges[-1]), side="right"))
        return Choice(min(reached, len(view) - 1), scores, "weighted")
