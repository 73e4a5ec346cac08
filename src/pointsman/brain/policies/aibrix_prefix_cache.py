"""AIBrix's prefix-cache rule: the best prefix among those not crowded; fewest requests when the fleet is uneven.

AIBrix, routing strategy `prefix-cache` (github.com/vllm-project/aibrix): beyond a spread of 8 requests it balances;
else the longest match among pods with at most mean + 1 standard deviation requests. Its "running" requests are those
it sent and that have not ended, which here are the outstanding ones.
"""

from dataclasses import dataclass
from typing import ClassVar

from pointsman.brain.model.choice import Choice, Scores
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import View
from pointsman.brain.policies.base import Amount, Policy
from pointsman.brain.policies.pickers import greatest, least, lowest_then, tiered


@dataclass(frozen=True, slots=True)
class AibrixPrefixCache(Policy):
    """max q − min q > `spread`: min q_j. Else max overlap_j where q_j <= mean + `deviations`·σ; if nothing is cached,
    min q_j.
    """

    name: ClassVar[str] = "aibrix_prefix_cache"
    spread: Amount = 8.0
    deviations: Amount = 1.0

    def score(self, request: Request, view: View) -> Scores:
        return self._rule(view)[0]

    def choose(self, request: Request, view: View) -> Choice:
        scores, reason = self._rule(view)
        return Choice(lowest_then(scores, view.outstanding, view.draw), scores, reason)

    def _rule(self, view: View) -> tuple[Scores, str]:
        requests = view.outstanding
        if greatest(requests) - least(requests) > self.spread:
            return requests, "balance"
        if not greatest(view.overlap) > 0.0:
            return requests, "miss"
        crowded_above = float(requests.mean()) + self.deviations * float(requests.std())
        return tiered(view.miss, requests <= crowded_above, requests), "cache"
