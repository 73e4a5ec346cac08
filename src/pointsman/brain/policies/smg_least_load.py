"""SMG's least load: seconds of token work, and a penalty that grows without bound as KV memory fills.

Shepherd Model Gateway 1.13.0, policy `least_load` (github.com/smg-project/smg): tokens queued uncached and those sent
since the last report, over the node's throughput, plus w·kv/(1 − kv). Engines of vLLM's kind report how many requests
wait and not their tokens; each then counts for the mean prompt, as in SMG. What was sent counts in full until the next
report, even if it is done long before: reports every few seconds make this a balancer of tokens sent.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

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
    """min (waiting_j·`mean_prompt` + tokens sent since the last report)/throughput_j + `kv_seconds`·kv_j/(1 − kv_j), s.

    `account="booked"` takes our own account instead of reports: backlog_j, and KV blocks held by live requests.
    `throughput` is in tokens/s for all nodes alike (SMG's is 2000 where engines report none); 0: the learned prefill
    rate of each.
    """

    name: ClassVar[str] = "smg_least_load"
    account: Literal["reported", "booked"] = "reported"
    kv_seconds: Amount = 0.15
    mean_prompt: Amount = 1024.0
    throughput: Amount = 0.0

    def score(self, request: Request, view: View) -> Scores:
        if self.account == "booked":
            tokens, kv = view.backlog_tokens, view.kv_used
        else:
            tokens, kv = view.reported_waiting * self.mean_prompt + view.sent_tokens, view.reported_kv_usage
        kv = np.minimum(kv, MOST_KV)
        seconds = tokens / self.throughput if self.throughput else tokens * view.prefill_per_token
        return seconds + self.kv_seconds * kv / (1.0 - kv)

    def choose(self, request: Request, view: View) -> Choice:
        scores = self.score(request, view)
        return Choice(lowest(scores, view.draw), scores, "load")
