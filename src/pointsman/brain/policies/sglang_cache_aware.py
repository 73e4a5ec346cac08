"""SGLang's cache-aware rule: shortest queue while the fleet is out of balance, else the cache, else the emptiest cache.

SGLang router 0.3.2, policy `cache_aware` (github.com/sgl-project/sglang), with its published thresholds. A request that
no node has much of goes to the node that holds fewest cached tokens, so that prefixes spread. That looks at no queue:
at low concurrency all misses meet on one node. `miss="least_requests"` sends them to the shortest queue instead, as the
released program does whatever its description says, and vLLM's router after it (`scripts/bench faithful`).
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from pointsman.brain.model.choice import Choice, Scores
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import View
from pointsman.brain.policies.base import Amount, Policy, Share
from pointsman.brain.policies.pickers import greatest, least, lowest


@dataclass(frozen=True, slots=True)
class SglangCacheAware(Policy):
    """Out of balance, max q − min q > `balance_abs` and max q > `balance_rel`·min q: min q_j. Else, if the best
    overlap/prompt > `cache_threshold`: max overlap_j. Else min cached tokens on j, or min q_j.
    """

    name: ClassVar[str] = "sglang_cache_aware"
    balance_abs: Amount = 64.0
    balance_rel: Amount = 1.5
    cache_threshold: Share = 0.3
    miss: Literal["smallest_cache", "least_requests"] = "smallest_cache"

    def score(self, request: Request, view: View) -> Scores:
        return self._rule(view)[0]

    def choose(self, request: Request, view: View) -> Choice:
        scores, reason = self._rule(view)
        return Choice(lowest(scores, view.draw), scores, reason)

    def _rule(self, view: View) -> tuple[Scores, str]:
        if self._unbalanced(view):
            return view.outstanding, "balance"
        if greatest(view.overlap) > self.cache_threshold * view.prompt_tokens:
            return view.miss, "cache"
        if self.miss == "least_requests":
            return view.outstanding, "miss"
        return view.kv_cached * view.block_tokens, "miss"

    def _unbalanced(self, view: View) -> bool:
        longest, shortest = greatest(view.outstanding), least(view.outstanding)
        return longest - shortest > self.balance_abs and longest > self.balance_rel * shortest
