"""llm-d's default profile: a weighted sum of scores in 0..1 for a short queue, free KV memory and a cached prefix.

llm-d router, default scheduling profile (github.com/llm-d/llm-d-router): queue scorer 2, KV-cache utilisation scorer 2,
prefix-cache scorer 3. The queue is what engines *reported* as waiting; between reports it knows of no booking, so it
herds, which is part of the rule. Its KV utilisation is the engine's gauge too; ours by default is the share that live
requests hold, since gauges differ in whether evictable blocks count.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from pointsman.brain.model.choice import Choice, Scores
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import Floats, View
from pointsman.brain.policies.base import Amount, Policy
from pointsman.brain.policies.pickers import greatest, least, lowest


@dataclass(frozen=True, slots=True)
class LlmdDefault(Policy):
    """max `queue`·(max − w_j)/(max − min) + `kv`·(1 − kv_j) + `prefix`·overlap_j/prompt; the score is its negative.

    w_j are the requests reported as waiting; if all wait alike, that term is 0 for all. `kv_from="reported"` takes kv_j
    from reports.
    """

    name: ClassVar[str] = "llmd_default"
    queue: Amount = 2.0
    kv: Amount = 2.0
    prefix: Amount = 3.0
    kv_from: Literal["booked", "reported"] = "booked"

    def score(self, request: Request, view: View) -> Scores:
        merit = self.queue * _shortness(view.reported_waiting)
        used = view.reported_kv_usage if self.kv_from == "reported" else view.kv_used
        merit += self.kv * (1.0 - np.minimum(used, 1.0))
        merit += self.prefix / max(view.prompt_tokens, 1.0) * view.overlap
        return np.negative(merit)

    def choose(self, request: Request, view: View) -> Choice:
        scores = self.score(request, view)
        return Choice(lowest(scores, view.draw), scores, "score")


def _shortness(waiting: Floats) -> Floats:
    most = greatest(waiting)
    span = most - least(waiting)
    return (most - waiting) / span if span > 0.0 else np.zeros(len(waiting))
