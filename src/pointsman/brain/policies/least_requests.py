"""Join the shortest queue: fewest outstanding requests, ties at random."""

from dataclasses import dataclass
from typing import ClassVar

from pointsman.brain.model.choice import Choice, Scores
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import View
from pointsman.brain.policies.base import Policy
from pointsman.brain.policies.pickers import lowest


@dataclass(frozen=True, slots=True)
class LeastRequests(Policy):
    """min q_j (join the shortest queue)."""

    name: ClassVar[str] = "least_requests"

    def score(self, request: Request, view: View) -> Scores:
        return view.outstanding

    def choose(self, request: Request, view: View) -> Choice:
        scores = self.score(request, view)
        return Choice(lowest(scores, view.draw), scores, "shortest")
