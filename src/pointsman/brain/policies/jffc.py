"""JFFC with fast forwarding: one weighted score of load, affinity and resources, and a shortcut to the cache.

When the best-scored candidate is not the one that holds the prompt's cache, and the holder is not too busy, the request
goes to the holder: the request travels to the cache, not the cache to the request. A holder must have a fair share of
the prompt: where all requests begin with one system prompt, each node "holds" a little of everything.

The other rule known as JFFC, join the fastest free chain, is the policy `fastest_free`. It looks at speed and free
slots alone and makes a request wait when no slot is free; this one weighs the cache too and always places.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from pointsman.brain.model.choice import Choice, Scores
from pointsman.brain.model.quantities import Quantity, at_least, at_most_one
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import View
from pointsman.brain.policies.base import Amount, Policy, Positive, Share
from pointsman.brain.policies.pickers import lowest, lowest_then

_AFFINITY = {"default": "graded", "seed": "binary"}
_FORWARD_BELOW = {"default": 0.7, "seed": 0.6}
_FORWARD_SHARE = {"default": 0.3, "seed": 0.0}
_LEAST = 1e-9  # keeps a denominator from being 0 where nothing is needed


@dataclass(frozen=True, slots=True)
class Jffc(Policy):
    """max −w_load·load + w_affinity·affinity + w_resource·resource; the score is its negative.

    load = gpu·u_j + queue·(q_j − run_j)/queue_full, u_j = min(1, load_j), or with `load_from="gpu"`, where a node
    reports it, the share of time that its GPUs compute (near 1 with a single stream: it tells idle from busy, no more);
    affinity = overlap_j/prompt, or with `affinity="binary"` 1 if anything is cached, else 0;
    resource = ½·min(1, free and evictable blocks/blocks needed) + ½·min(1, (1 − u_j)/min(1, prefill seconds/1 s)).
    Forwards to the holder if u < `forward_below` and it has at least `forward_share` of the prompt. What is left None
    follows `variant`: "default" is graded, 0.7, 0.3; "seed" is binary, 0.6, 0.
    """

    name: ClassVar[str] = "jffc"
    variant: Literal["default", "seed"] = "default"
    w_load: Amount = 0.5
    w_affinity: Amount = 0.3
    w_resource: Amount = 0.2
    gpu: Amount = 0.4
    queue: Amount = 0.3
    queue_full: Positive = 10.0
    load_from: Literal["account", "gpu"] = "account"
    affinity: Literal["graded", "binary"] | None = None
    forward_below: Amount | None = None
    forward_share: Share | None = None

    def score(self, request: Request, view: View) -> Scores:
        return view.each(self._cost) if self.load_from == "account" else self._cost(view)

    def choose(self, request: Request, view: View) -> Choice:
        scores = self.score(request, view)
        winner = lowest(scores, view.draw)
        holder = self._holder(view, winner)
        return Choice(winner, scores, "score") if holder == winner else Choice(holder, scores, "forward")

    def _cost(self, node: Any) -> Quantity:
        """The negative of what is to be greatest, for one candidate or all."""
        busy = at_most_one(self._load(node))
        idle = 1.0 - busy
        queued = node.outstanding - node.running
        memory = (node.kv_capacity - node.kv_reserved) / (node.blocks_needed + _LEAST)
        # min(1, a / min(1, b)) = min(1, max(a, a / b)) for a <= 1: only a / b can pass 1.
        compute = at_least(idle / (node.prefill_seconds + _LEAST), idle)
        cost = busy * (self.w_load * self.gpu) + queued * (self.w_load * self.queue / self.queue_full)
        resource = at_most_one(memory) + at_most_one(compute)
        return cost - self._affinity(node) - resource * (0.5 * self.w_resource)

    def _load(self, node: Any) -> Quantity:
        if self.load_from == "account":
            return node.load
        return np.where(node.reported_gpu_busy >= 0.0, node.reported_gpu_busy, node.load)

    def _affinity(self, node: Any) -> Quantity:
        """Weighted: w_affinity x affinity."""
        if (self.affinity or _AFFINITY[self.variant]) == "binary":
            return self.w_affinity * (node.overlap > 0.0)
        return node.overlap * (self.w_affinity / max(node.prompt_tokens, 1.0))

    def _holder(self, view: View, winner: int) -> int:
        """The candidate to forward to, or `winner`."""
        most = view.most_overlap
        if most < self._least_share() * view.prompt_tokens or view.overlap_of(winner) == most:
            return winner
        load = view.each(self._load) if self.load_from == "account" else self._load(view)
        holder = lowest_then(view.miss, load, view.draw)
        return holder if load[holder] < self._forward_limit() else winner

    def _least_share(self) -> float:
        return _FORWARD_SHARE[self.variant] if self.forward_share is None else self.forward_share

    def _forward_limit(self) -> float:
        return _FORWARD_BELOW[self.variant] if self.forward_below is None else self.forward_below
