"""The score of `jffc` and its choice: what `jffc.py` says in words.

Strategy: where there are few candidates everything is worked out in floats, candidate by candidate, and where there are
many in arrays: the same IEEE operations in the same order, so both choose alike. It is apart from its policy because
it is compiled, which a dataclass cannot be.
"""

from typing import Literal, Protocol

import numpy as np

from pointsman.brain.model.candidate import Candidate
from pointsman.brain.model.choice import Choice, Scores
from pointsman.brain.model.view import Floats, View
from pointsman.brain.policies.pickers import least_of, lowest, lowest_then

_AFFINITY = {"default": "graded", "seed": "binary"}
_FORWARD_BELOW = {"default": 0.7, "seed": 0.6}
_FORWARD_SHARE = {"default": 0.3, "seed": 0.0}
_LEAST = 1e-9  # keeps a denominator from being 0 where nothing is needed


class Rule(Protocol):
    """The policy's parameters."""

    @property
    def variant(self) -> Literal["default", "seed"]: ...
    @property
    def w_load(self) -> float: ...
    @property
    def w_affinity(self) -> float: ...
    @property
    def w_resource(self) -> float: ...
    @property
    def gpu(self) -> float: ...
    @property
    def queue(self) -> float: ...
    @property
    def queue_full(self) -> float: ...
    @property
    def load_from(self) -> Literal["account", "gpu"]: ...
    @property
    def affinity(self) -> Literal["graded", "binary"] | None: ...
    @property
    def forward_below(self) -> float | None: ...
    @property
    def forward_share(self) -> float | None: ...


def chosen(rule: Rule, view: View) -> Choice:
    """The candidate with the least score, or the one that holds the prompt's cache if that is to be forwarded to."""
    if _one_by_one(rule, view):
        listed = _scores_of_few(rule, view)
        return _choice(rule, view, least_of(listed, view), listed)
    scores = _scores_of_many(rule, view)
    return _choice(rule, view, lowest(scores, view.draw), scores)


def scores(rule: Rule, view: View) -> Scores:
    """The negative of what is to be greatest, for each candidate."""
    return np.array(_scores_of_few(rule, view)) if _one_by_one(rule, view) else _scores_of_many(rule, view)


def _one_by_one(rule: Rule, view: View) -> bool:
    return view.is_small and rule.load_from == "account"


def _choice(rule: Rule, view: View, winner: int, scores: Scores | list[float]) -> Choice:
    holder = _holder(rule, view, winner)
    return Choice(winner, scores, "score") if holder == winner else Choice(holder, scores, "forward")


def _scores_of_few(rule: Rule, view: View) -> list[float]:
    by_load, by_queue = rule.w_load * rule.gpu, rule.w_load * rule.queue / rule.queue_full
    by_resource, w_affinity = 0.5 * rule.w_resource, rule.w_affinity
    binary, per_token = _is_binary(rule), w_affinity / max(float(view.prompt_tokens), 1.0)
    found: list[float] = []
    for node in view.candidates:
        affinity = node.overlap * per_token
        if binary:
            affinity = w_affinity if node.overlap > 0.0 else 0.0
        found.append(_score(node, by_load, by_queue, by_resource, affinity))
    return found


def _score(node: Candidate, by_load: float, by_queue: float, by_resource: float, affinity: float) -> float:
    load = node.load
    busy = load if load < 1.0 else 1.0
    idle = 1.0 - busy
    memory = (node.kv_capacity - node.kv_reserved) / (node.blocks_needed + _LEAST)
    # min(1, a / min(1, b)) = min(1, max(a, a / b)) for a <= 1: only a / b can pass 1.
    compute = idle / (node.prefill_seconds + _LEAST)
    compute = compute if compute > idle else idle
    resource = (memory if memory < 1.0 else 1.0) + (compute if compute < 1.0 else 1.0)
    cost = busy * by_load + (node.outstanding - node.running) * by_queue
    return cost - affinity - resource * by_resource


def _scores_of_many(rule: Rule, view: View) -> Scores:
    busy = np.minimum(_loads(rule, view), 1.0)
    idle = 1.0 - busy
    memory = (view.kv_capacity - view.kv_reserved) / (view.blocks_needed + _LEAST)
    compute = np.maximum(idle / (view.prefill_seconds + _LEAST), idle)
    queued = view.outstanding - view.running
    cost = busy * (rule.w_load * rule.gpu) + queued * (rule.w_load * rule.queue / rule.queue_full)
    resource = np.minimum(memory, 1.0) + np.minimum(compute, 1.0)
    result: Scores = cost - _affinity(rule, view) - resource * (0.5 * rule.w_resource)
    return result


def _loads(rule: Rule, view: View) -> Floats:
    if rule.load_from == "account":
        return view.load
    return np.where(view.reported_gpu_busy >= 0.0, view.reported_gpu_busy, view.load)


def _affinity(rule: Rule, view: View) -> Floats:
    """Weighted: w_affinity x affinity."""
    if _is_binary(rule):
        return np.where(view.overlap > 0.0, rule.w_affinity, 0.0)
    graded: Floats = view.overlap * (rule.w_affinity / max(view.prompt_tokens, 1.0))
    return graded


def _is_binary(rule: Rule) -> bool:
    return (rule.affinity or _AFFINITY[rule.variant]) == "binary"


def _holder(rule: Rule, view: View, winner: int) -> int:
    """The candidate to forward to, or `winner`."""
    most = view.most_overlap
    least = _FORWARD_SHARE[rule.variant] if rule.forward_share is None else rule.forward_share
    if most < least * view.prompt_tokens or view.overlap_of(winner) == most:
        return winner
    limit = _FORWARD_BELOW[rule.variant] if rule.forward_below is None else rule.forward_below
    if _one_by_one(rule, view):
        nodes = view.candidates
        holder = lowest_then([node.miss for node in nodes], [node.load for node in nodes], view.draw)
        return holder if nodes[holder].load < limit else winner
    loads = _loads(rule, view)
    holder = lowest_then(view.miss, loads, view.draw)
    return holder if loads[holder] < limit else winner
