"""Random: every candidate alike, whatever its state. The baseline that needs no signal at all."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pointsman.brain.model.choice import Choice, Scores
from pointsman.brain.model.draw import below
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import View
from pointsman.brain.policies.base import Policy


@dataclass(frozen=True, slots=True)
class UniformRandom(Policy):
    """A uniform draw; all scores are 0."""

    name: ClassVar[str] = "random"

    def score(self, request: Request, view: View) -> Scores:
        return np.zeros(len(view))

    def choose(self, request: Request, view: View) -> Choice:
        return Choice(below(view.draw, len(view)), self.score(request, view), "random")
