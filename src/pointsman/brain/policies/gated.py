"""A gate before any other policy: the decode cap, the central queue and the order of `fastest_completion`.

Late binding helps whatever rule places the requests, so a comparison that lets only one rule queue compares queueing.
This wrapper gives each the same: `within` decides among the nodes below the cap as it would among all, and decides
later when no node is open (`gate.py`). What waits goes first come first served, or as `order` says.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from pointsman.brain.model.choice import Choice, Hold, Scores
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import Flags, Floats, View
from pointsman.brain.policies.base import Amount, Count, Policy
from pointsman.brain.policies.completion_cost import wait_seconds
from pointsman.brain.policies.gate import all_shut, open_nodes
from pointsman.brain.policies.least_requests import LeastRequests
from pointsman.brain.policies.pickers import every, greatest
from pointsman.brain.policies.window import regrets, stacked


@dataclass(frozen=True, slots=True)
class Gated(Policy):
    """What `within` chooses among the nodes with fewer than `decode_cap` requests (0: no cap); held when none is open.

    `hold_above` and `doubt_above` are those of `fastest_completion`. `order` says which of the waiting goes next:
    "fcfs" the oldest, "shortest" the one with the least prefill seconds on its best node, "regret" the one that would
    lose most, by the scores of `within`, if it had to take its second-best node.
    """

    name: ClassVar[str] = "gated"
    within: Policy = LeastRequests()  # noqa: RUF009 - frozen
    decode_cap: Count = 0
    hold_above: Amount = 2.0
    doubt_above: Amount = 1.0
    order: Literal["fcfs", "shortest", "regret"] = "fcfs"

    @property
    def binds_late(self) -> bool:
        return self.order != "fcfs"

    def within_limits(self, view: View) -> Flags:
        return self.within.within_limits(view)

    def score(self, request: Request, view: View) -> Scores:
        return self.within.score(request, view)

    def choose(self, request: Request, view: View) -> Choice | Hold:
        wait = wait_seconds(view, view.prompt_tokens + view.output_tokens)
        if all_shut(view, wait, self.hold_above, self.decode_cap):
            scores = self.score(request, view)
            if view.prediction_error[scores.argmin()] <= self.doubt_above:
                return Hold(scores, "full")
        below = view.outstanding < self.decode_cap
        if not self.decode_cap or every(below) or not below.any():
            return self.within.choose(request, view)
        return self._choose_among(request, view, below)

    def pick(self, requests: Sequence[Request], views: Sequence[View]) -> int:
        """The earliest of those who are next by `order`."""
        if self.order == "fcfs":
            return 0
        view = stacked(views)
        if self.order == "shortest":
            return int(view.prefill_seconds.min(axis=1).argmin())
        scores = np.stack([self.score(request, each) for request, each in zip(requests, views, strict=True)])
        wait = wait_seconds(view, float(np.max(view.prompt_tokens + view.output_tokens)))
        return int(regrets(scores, open_nodes(view, wait, self.hold_above, self.decode_cap), _NOTHING).argmax())

    def _choose_among(self, request: Request, view: View, below: Flags) -> Choice | Hold:
        """The choice of `within` as if there were no candidates but those below the cap; the others score last."""
        answer = self.within.choose(request, view.among(below.nonzero()[0]))
        scores: Scores = greatest(answer.scores) + 1.0 + view.outstanding
        scores[below] = answer.scores
        if isinstance(answer, Hold):
            return Hold(scores, answer.reason, answer.memo)
        return Choice(int(below.nonzero()[0][answer.index]), scores, answer.reason, answer.memo)


_NOTHING: Floats = np.array(0.0)
"""With one node alone no ticket loses anything by its second-best: the oldest goes."""
