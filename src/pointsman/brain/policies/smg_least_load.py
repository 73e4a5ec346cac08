"""SMG's least load: seconds of token work, and a penalty that grows without bound as KV memory fills.

Shepherd Model Gateway 1.13.0, policy `least_load` (github.com/smg-project/smg): tokens queued uncached and those sent
since the last report, over the node's throughput, plus w·kv/(1 − kv). Our own account of booked tokens is current, so
it stands for both.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pointsman.brain.model.choice import Choice, Scores
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import View
from pointsman.brain.policies.base import Amount, Policy
from pointsman.brain.policies.pickers import lowest

MOST_KV = 0.999
"""The penalty stops growing here, at a thousand times its weight."""


@dataclass(frozen=True, slots=True)
class SmgLeastLoad(Policy):
    """min backlog_j/throughput_j + `kv_seconds`·kv_j/(1 − kv_j), in seconds."""

    name: ClassVar[str] = "smg_least_load"
    kv_seconds: Amount = 0.15

    def score(self, request: Request, view: View) -> Scores:
        kv = np.minimum(view.kv_used, MOST_KV)
        return view.backlog_seconds + self.kv_seconds * kv / (1.0 - kv)

    def choose(self, request: Request, view: View) -> Choice:
        scores = self.score(request, view)
        return Choice(lowest(scores, view.draw), scores, "load")
