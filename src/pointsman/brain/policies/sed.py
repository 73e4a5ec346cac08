"""Shortest expected delay: the mean service, and the turn to wait for when every slot is taken.

J. Selen, I. Adan, S. Kapodistria, J. van Leeuwaarden, "Steady-state analysis of shortest expected delay routing",
Queueing Systems 2016, for servers with c_j slots.
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
class ShortestExpectedDelay(Policy):
    """min 1/μ_j + (q_j − c_j + 1)₊/(μ_j·c_j), c = slots; seconds."""

    name: ClassVar[str] = "sed"

    def score(self, request: Request, view: View) -> Scores:
        slots = view.slots
        queued = np.maximum(view.outstanding - slots + 1.0, 0.0)
        scores: Scores = view.service_seconds * (1.0 + queued / slots)
        return scores

    def choose(self, request: Request, view: View) -> Choice:
        scores = self.score(request, view)
        return Choice(lowest(scores, view.draw), scores, "delay")
