"""Peak EWMA: of two random candidates, the one with the less expected wait R_j·(q_j + 1).

Twitter Finagle's `p2c_peak_ewma`; R_j follows peaks at once and decays slowly (see `load/peak_ewma.py`).
"""

from dataclasses import dataclass
from typing import ClassVar

from pointsman.brain.model.choice import Choice, Scores
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import View
from pointsman.brain.policies.base import Policy
from pointsman.brain.policies.pickers import lower_of_two


@dataclass(frozen=True, slots=True)
class PeakEwma(Policy):
    """The less R_j·(q_j + 1) of two distinct random candidates; seconds."""

    name: ClassVar[str] = "peak_ewma"

    def score(self, request: Request, view: View) -> Scores:
        return view.response_seconds * (view.outstanding + 1.0)

    def choose(self, request: Request, view: View) -> Choice:
        scores = self.score(request, view)
        return Choice(lower_of_two(scores, view.draw), scores, "two")
