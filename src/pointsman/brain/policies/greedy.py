"""Greedy allocation of KV memory: the request goes where it is worth most for each byte that it takes.

    utility_j = priority / (bytes_j·(1 + load_j)·length_penalty)
    length_penalty = max(1, tokens/threshold)^alpha

`bytes_j` are those of the blocks to be newly allocated, at least one: a prefix that is cached there is not paid again.
This is the greedy rule for knapsacks (G. Dantzig, "Discrete-variable extremum problems", Operations Research 5, 1957),
value by weight, with the weight made heavier where load is high. The penalty of a length is the same on every node, so
it never chooses between nodes; it chooses, as the priority does, between the requests that wait for one.

What fits nowhere waits, and takes nobody's memory: a full engine would preempt one it has begun. A request that no node
could hold even when empty is placed all the same, for its engine to refuse.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pointsman.brain.model.choice import Choice, Hold, Scores
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import Flags, View
from pointsman.brain.policies.base import Amount, Policy, Positive
from pointsman.brain.policies.pickers import lowest, tiered
from pointsman.brain.policies.window import stacked


@dataclass(frozen=True, slots=True)
class Greedy(Policy):
    """max utility_j among the nodes that fit, as 1/utility_j; held while none does.

    `alpha` 0 knows no penalty of length; with 1 a prompt and answer of twice `threshold` tokens count for half.
    """

    name: ClassVar[str] = "greedy"
    alpha: Amount = 0.0
    threshold: Positive = 8192.0

    @property
    def binds_late(self) -> bool:
        return True

    def score(self, request: Request, view: View) -> Scores:
        return self._score(view, view.fits)

    def choose(self, request: Request, view: View) -> Choice | Hold:
        fits = view.fits
        scores = self._score(view, fits)
        index = lowest(scores, view.draw)
        if fits[index]:
            return Choice(index, scores, "fits")
        return Hold(scores, "full") if view.fits_empty.any() else Choice(index, scores, "oversized")

    def pick(self, requests: Sequence[Request], views: Sequence[View]) -> int:
        """Of the tickets that fit somewhere the one of greatest utility, the earlier on ties; else the head."""
        view = stacked(views)
        costs = np.where(view.fits, self._cost(view), np.inf)
        return int(costs.min(axis=1).argmin())

    def _score(self, view: View, fits: Flags) -> Scores:
        cost = self._cost(view)
        return tiered(cost, fits, cost)

    def _cost(self, view: View) -> Scores:
        """1/utility of every candidate."""
        cost: Scores = 1.0 / view.utility
        if self.alpha:
            tokens = view.prompt_tokens + view.reserve_tokens
            cost *= np.maximum(1.0, tokens / self.threshold) ** self.alpha
        return cost
