"""AIBrix's prefix-cache rule: the best prefix among those not crowded; fewest requests when the fleet is uneven.

AIBrix, routing strategy `prefix-cache` (github.com/vllm-project/aibrix): beyond a spread of 8 requests it balances;
else the longest match among pods with at most mean + 1 standard deviation requests. Its "running" requests are those
it sent and that have not ended, which here are the outstanding ones. Later releases balance only if the busiest pod
also has more than twice the mean and one, and then by prefix among the least busy: `factor = 2`.
"""

from dataclasses import dataclass
from typing import ClassVar

from pointsman.brain.model.choice import Choice, Scores
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import Floats, View
from pointsman.brain.policies.base import Amount, Policy
from pointsman.brain.policies.pickers import greatest, least, lowest_then, tiered


@dataclass(frozen=True, slots=True)
class AibrixPrefixCache(Policy):
    """max q − min q > `spread`: min q_j. Else max overlap_j where q_j <= mean + `deviations`·σ; if nothing is cached,
    min q_j.

    With a `factor` the fleet is uneven if max q − min q is at least `spread` and max q > `factor`·(mean + 1), and of
    those with min q_j the one with most overlap is taken.
    """

    name: ClassVar[str] = "aibrix_prefix_cache"
    spread: Amount = 8.0
    deviations: Amount = 1.0
    factor: Amount = 0.0

    def score(self, request: Request, view: View) -> Scores:
        return self._rule(view)[0]

    def choose(self, request: Request, view: View) -> Choice:
        scores, reason = self._rule(view)
        second = view.miss if self.factor and reason == "balance" else view.outstanding
        return Choice(lowest_then(scores, second, view.draw), scores, reason)

    def _rule(self, view: View) -> tuple[Scores, str]:
        requests = view.outstanding
        if self._uneven(requests):
            return requests, "balance"
        if not greatest(view.overlap) > 0.0:
            return requests, "miss"
        crowded_above = float(requests.mean()) + self.deviations * float(requests.std())
        return tiered(view.miss, requests <= crowded_above, requests), "cache"

    def _uneven(self, requests: Floats) -> bool:
        most = greatest(requests)
        spread = most - least(requests)
        if not self.factor:
            return spread > self.spread
        return spread >= self.spread and most > self.factor * (float(requests.mean()) + 1.0)
