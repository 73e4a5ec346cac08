"""Join the idle queue: an idle candidate at random, or any at random when none is idle.

Y. Lu, Q. Xie, G. Kliot, A. Geller, J. Larus, A. Greenberg, "Join-Idle-Queue", Performance Evaluation 2011.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pointsman.brain.model.choice import Choice, Scores
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import View
from pointsman.brain.policies.base import Policy
from pointsman.brain.policies.pickers import lowest


@dataclass(frozen=True, slots=True)
class JoinIdleQueue(Policy):
    """Score 0 for an idle candidate, 1 for a busy one; ties at random."""

    name: ClassVar[str] = "jiq"

    def score(self, request: Request, view: View) -> Scores:
        return (view.outstanding > 0.0).astype(np.float64)

    def choose(self, request: Request, view: View) -> Choice:
        scores = self.score(request, view)
        index = lowest(scores, view.draw)
        return Choice(index, scores, "busy" if scores[index] else "idle")
