"""Least response time among the available: the node that answers fastest, unless it is nearly full."""

from dataclasses import dataclass
from typing import ClassVar

from pointsman.brain.model.choice import Choice, Scores
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import Flags, View
from pointsman.brain.policies.base import Policy, Positive
from pointsman.brain.policies.pickers import lowest, tiered


@dataclass(frozen=True, slots=True)
class LeastResponseTime(Policy):
    """min R_j over load_j ≤ `load_limit`; seconds.

    R_j is the peak EWMA of the time to first byte. A candidate above the limit ranks behind all others, least load
    first, so that something is chosen even when all are above it.
    """

    name: ClassVar[str] = "least_response_time"
    load_limit: Positive = 0.9

    def within_limits(self, view: View) -> Flags:
        return view.load <= self.load_limit

    def score(self, request: Request, view: View) -> Scores:
        return tiered(view.response_seconds, self.within_limits(view), view.load)

    def choose(self, request: Request, view: View) -> Choice:
        scores = self.score(request, view)
        index = lowest(scores, view.draw)
        return Choice(index, scores, "fastest" if view.load[index] <= self.load_limit else "overloaded")
