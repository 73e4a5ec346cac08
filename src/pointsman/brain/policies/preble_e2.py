"""Preble's E2: exploit the cache where most of the prompt is cached, else explore: the node least worked of late.

V. Srivatsa, Z. He, R. Abhyankar, D. Li, Y. Zhang, "Preble: efficient distributed prompt scheduling for LLM serving",
ICLR 2025: exploit if more of the prompt is cached than must be computed; else the least sum of the load of the last
three minutes, of the prefill time of what would be evicted, weighed by how often it is hit, and of that of the prompt's
own uncached part. Load counts what was sent in the window, done or not (`load/recent_work.py`).

The paper also moves a prefix off a node with more than Th_bal times the load of the lightest. The released code
(github.com/WukLab/preble) has that switched off, so `rebalance_above`, which sends what would exploit such a node to
explore instead, is off by default.
"""

from dataclasses import dataclass
from typing import ClassVar

from pointsman.brain.model.choice import Choice, Scores
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import View
from pointsman.brain.policies.base import Amount, Policy, Share
from pointsman.brain.policies.completion_cost import eviction_seconds
from pointsman.brain.policies.pickers import greatest, least, lowest, lowest_then


@dataclass(frozen=True, slots=True)
class PrebleE2(Policy):
    """max overlap_j, if that is more than its miss_j, the less worked on ties. Else min recent_work_j + eviction_j +
    prefill seconds_j.

    `reuse` is the probability that an evicted token would have been asked for again. Where the node to exploit was
    given more than `rebalance_above` (0: off) times the least recent work of all, the request explores.
    """

    name: ClassVar[str] = "preble_e2"
    reuse: Share = 0.1
    rebalance_above: Amount = 0.0

    def score(self, request: Request, view: View) -> Scores:
        return view.miss if self._exploits(view) else self._explored(view)

    def choose(self, request: Request, view: View) -> Choice:
        if self._exploits(view):
            return Choice(lowest_then(view.miss, view.recent_work, view.draw), view.miss, "exploit")
        scores = self._explored(view)
        return Choice(lowest(scores, view.draw), scores, "explore")

    def _exploits(self, view: View) -> bool:
        most = greatest(view.overlap)
        if most <= view.prompt_tokens - most:
            return False
        if not self.rebalance_above:
            return True
        holder_work = view.recent_work[view.overlap == most]
        return least(holder_work) <= self.rebalance_above * least(view.recent_work)

    def _explored(self, view: View) -> Scores:
        return view.recent_work + eviction_seconds(view, self.reuse) + view.prefill_seconds
