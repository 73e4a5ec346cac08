"""Dynamo's cost: blocks to prefill, queued ones included, and blocks that decoding holds.

NVIDIA Dynamo 1.6, KV router (github.com/ai-dynamo/dynamo): cost = overlap_weight·prefill blocks + decode blocks, the
least wins; with a temperature, a softmax draw over the costs scaled to 0..1 spreads requests among near equals.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pointsman.brain.model.choice import Choice, Scores
from pointsman.brain.model.draw import unit
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import View
from pointsman.brain.policies.base import Amount, Policy
from pointsman.brain.policies.pickers import greatest, least, lowest


@dataclass(frozen=True, slots=True)
class DynamoCost(Policy):
    """min `overlap_weight`·max(backlog_j + miss_j, 0)/block + decode blocks_j; at `temperature` 0 the least."""

    name: ClassVar[str] = "dynamo_cost"
    overlap_weight: Amount = 1.0
    temperature: Amount = 0.0

    def score(self, request: Request, view: View) -> Scores:
        prefill = np.maximum(view.backlog_tokens + view.miss, 0.0)
        return (self.overlap_weight * prefill + view.context_tokens) / view.block_tokens

    def choose(self, request: Request, view: View) -> Choice:
        scores = self.score(request, view)
        if not self.temperature:
            return Choice(lowest(scores, view.draw), scores, "cost")
        return Choice(self._drawn(scores, unit(view.draw)), scores, "softmax")

    def _drawn(self, scores: Scores, share: float) -> int:
        span = max(greatest(scores) - least(scores), 1e-9)
        weights = np.exp((least(scores) - scores) / (span * self.temperature))
        return min(int(np.searchsorted(weights.cumsum(), share * weights.sum(), side="right")), len(scores) - 1)
