"""LMetric: tokens to compute before and for the request, times the requests that decode there.

D. Zhang et al., "LMetric: simple is better – multiplication may be all you need for LLM request scheduling", arXiv
2603.15202, 2026: the product of a prefill and a decode indicator needs neither weights nor a model of the hardware.
"""

from dataclasses import dataclass
from typing import ClassVar

from pointsman.brain.model.choice import Choice, Scores
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import View
from pointsman.brain.policies.base import Policy
from pointsman.brain.policies.pickers import lowest


@dataclass(frozen=True, slots=True)
class LMetric(Policy):
    """min (miss_j + backlog_j)·(run_j + 1), tokens x requests."""

    name: ClassVar[str] = "lmetric"

    def score(self, request: Request, view: View) -> Scores:
        return (view.miss + view.backlog_tokens) * (view.running + 1.0)

    def choose(self, request: Request, view: View) -> Choice:
        scores = self.score(request, view)
        return Choice(lowest(scores, view.draw), scores, "cost")
