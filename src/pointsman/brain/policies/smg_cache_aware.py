"""SMG's cache-aware rule: the least loaded of those that hold the prefix, unless they are far busier than the mean.

Shepherd Model Gateway 1.13.0, policy `cache_aware` (github.com/smg-project/smg), which succeeds the rule of the same
name in SGLang's router (`sglang_cache_aware`). Where that one gives up the cache of all when the fleet is out of
balance, this one looks at the holders alone; and what nobody holds goes where the work is least. The margin above the
mean shrinks with it: two standard deviations of a Poisson count, and at least four requests.
"""

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

import numpy as np

from pointsman.brain.model.choice import Choice, Scores
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import Flags, View
from pointsman.brain.policies.base import Amount, Policy, Share
from pointsman.brain.policies.pickers import greatest, lowest, tiered
from pointsman.brain.policies.smg_least_load import SmgLeastLoad

LEAST_MARGIN = 4.0
"""Requests above the mean that are never too many."""


@dataclass(frozen=True, slots=True)
class SmgCacheAware(Policy):
    """By the score of `load` among the nodes with the best prefix, if that is above `cache_threshold` of the prompt;
    among all if it is not.

    A node is hot with more than `spill_rel`·mean q and more than mean q + min(`spill_abs`, max(4, 2·√mean q)). Hot
    holders do not count; if all are hot, the request goes to any node that is not.
    """

    name: ClassVar[str] = "smg_cache_aware"
    cache_threshold: Share = 0.3
    spill_abs: Amount = 64.0
    spill_rel: Amount = 1.5
    load: Policy = SmgLeastLoad()  # noqa: RUF009 - frozen

    def score(self, request: Request, view: View) -> Scores:
        return tiered(self.load.score(request, view), self._eligible(view)[0], view.outstanding)

    def choose(self, request: Request, view: View) -> Choice:
        eligible, reason = self._eligible(view)
        scores = tiered(self.load.score(request, view), eligible, view.outstanding)
        return Choice(lowest(scores, view.draw), scores, reason)

    def _eligible(self, view: View) -> tuple[Flags, str]:
        best = greatest(view.overlap)
        if best <= self.cache_threshold * view.prompt_tokens:
            return np.ones(len(view), dtype=np.bool_), "miss"
        cool = ~self._hot(view)
        holders = (view.overlap == best) & cool
        return (holders, "cache") if holders.any() else (cool, "spill")

    def _hot(self, view: View) -> Flags:
        mean = float(view.outstanding.mean())
        margin = min(self.spill_abs, max(LEAST_MARGIN, 2.0 * sqrt(mean)))
        hot: Flags = view.outstanding > max(self.spill_rel * mean, mean + margin)
        return hot
