"""Speed-aware join the shortest queue: the least waiting per slot, ties to the fastest.

S. Bhambay, A. Mukhopadhyay, "Asymptotic optimality of speed-aware JSQ for heterogeneous service systems",
Performance Evaluation 2022, for servers with c_j slots.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pointsman.brain.model.choice import Choice, Scores
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import View
from pointsman.brain.policies.base import Policy
from pointsman.brain.policies.pickers import lowest_then


@dataclass(frozen=True, slots=True)
class SpeedAwareJsq(Policy):
    """min (q_j − c_j + 1)₊/c_j, c = slots; among equals the greatest speed_j."""

    name: ClassVar[str] = "sa_jsq"

    def score(self, request: Request, view: View) -> Scores:
        slots = view.slots
        scores: Scores = np.maximum(view.outstanding - slots + 1.0, 0.0) / slots
        return scores

    def choose(self, request: Request, view: View) -> Choice:
        scores = self.score(request, view)
        return Choice(lowest_then(scores, -view.speed, view.draw), scores, "shortest")
