"""JFFC with fast forwarding: one weighted score of load, affinity and resources, and a shortcut to the cache.

When the best-scored candidate is not the one that holds the prompt's cache, and the holder is not too busy, the request
goes to the holder: the request travels to the cache, not the cache to the request. A holder must have a fair share of
the prompt: where all requests begin with one system prompt, each node "holds" a little of everything.

The other rule known as JFFC, join the fastest free chain, is the policy `fastest_free`. It looks at speed and free
slots alone and makes a request wait when no slot is free; this one weighs the cache too and always places.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from pointsman.brain.model.choice import Choice, Scores
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import View
from pointsman.brain.policies.base import Amount, Policy, Positive, Share
from pointsman.brain.policies.jffc_score import chosen, scores


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
        return scores(self, view)

    def choose(self, request: Request, view: View) -> Choice:
        return chosen(self, view)
