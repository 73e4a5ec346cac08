"""Join the free node that is fastest for one more, where a request takes the longer the more it shares its node with.

The JFFC rule of T. Sun, T. He, I.-H. Hou (2026), `fastest_free`, takes a request's time on a node as given, however
many run there. Engines that batch continuously divide their steps among all, so this one weighs T_j·(q_j + 1) instead:
it leaves the fastest node before that is full when a slower one has fewer to share with.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pointsman.brain.model.choice import Choice, Hold, Scores
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import View
from pointsman.brain.policies.base import Policy
from pointsman.brain.policies.pickers import lowest


@dataclass(frozen=True, slots=True)
class FastestFreeBatched(Policy):
    """Score −speed_j/(q_j + 1) while q_j < slots_j, else 0; a hold when no candidate is free."""

    name: ClassVar[str] = "fastest_free_batched"

    def score(self, request: Request, view: View) -> Scores:
        return np.where(view.outstanding < view.slots, -view.speed / (view.outstanding + 1.0), 0.0)

    def choose(self, request: Request, view: View) -> Choice | Hold:
        scores = self.score(request, view)
        index = lowest(scores, view.draw)
        return Choice(index, scores, "free") if scores[index] < 0.0 else Hold(scores, "full")
