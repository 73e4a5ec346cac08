"""vLLM router's KV-aware rule: tokens to compute before and for the request, times the requests that share the node.

vLLM router 0.1.17, policy `kv_aware` (github.com/vllm-project/router). The product makes a cached prefix worth more the
fuller the node is, and needs no weights.
"""

from dataclasses import dataclass
from typing import ClassVar

from pointsman.brain.model.choice import Choice, Scores
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import View
from pointsman.brain.policies.base import Policy
from pointsman.brain.policies.pickers import lowest


@dataclass(frozen=True, slots=True)
class VllmKvAware(Policy):
    """min (miss_j + backlog_j)·(q_j + 1), tokens x requests."""

    name: ClassVar[str] = "vllm_kv_aware"

    def score(self, request: Request, view: View) -> Scores:
        return (view.miss + view.backlog_tokens) * (view.outstanding + 1.0)

    def choose(self, request: Request, view: View) -> Choice:
        scores = self.score(request, view)
        return Choice(lowest(scores, view.draw), scores, "cost")
