"""Fastest completion: one cost, in seconds, of placing a request on a node: what it adds to everybody's waiting.

    cost_j = wait + prefill + decoding·(out·tpot + harm) + eviction

- wait: what is left of the prefill booked ahead and, where blocks must free first, the time until they should;
- prefill: of the tokens not cached on j, and what comes beside it until a first token is heard;
- out·tpot: decoding the expected output in j's batch with this request in it;
- harm: what others lose. Each member of the batch stands still for the added prefill and then decodes slower for as
  long as it shares the batch (half of the output, on average);
- decoding: what a second between tokens counts against a second before the first one. Readers forgive the former
  sooner: the usual objectives, 5 s to the first token and 0.1 s for each of some 500, weigh it a tenth;
- eviction: each evicted token costs its recomputation with the probability that it would have been used again.

Fast forwarding is no threshold here but a comparison: a request goes to its cache when waiting there costs less than
recomputing elsewhere. All rates are per node and learned (`load/latency.py`).

Late binding. When every candidate's wait is above `hold_above`, the request is held, because a choice made later knows
more. When something frees, `pick` takes from the window the ticket that would lose most by any other node than its
best: so a freed node goes to a ticket that has its cache there. Since only a fleet without an open node holds, it adds
no delay below saturation; a bound shorter than the delay of feedback would leave nodes idle while the queue is full.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pointsman.brain.model.choice import Choice, Hold, Scores
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import Floats, View
from pointsman.brain.policies.base import Amount, Count, Policy, Share
from pointsman.brain.policies.completion_cost import (
    costs_of_few,
    service_and_harm,
    uncached_prefill,
    wait_seconds,
    waits_of_few,
)
from pointsman.brain.policies.gate import all_shut, open_nodes
from pointsman.brain.policies.pickers import least_of, lowest, tiered
from pointsman.brain.policies.window import regrets, stacked


@dataclass(frozen=True, slots=True)
class FastestCompletion(Policy):
    """min cost_j, seconds; held while every wait is above `hold_above` seconds, shared by the view's gateways.

    `late_binding` off never holds. `hold_above` must not be below the P99 of the feedback delay. `decode_cap`
    requests at most run on a node (0: as many as the node's slots). `decoding` weighs a second of decoding, ours or
    others', against one of waiting for the first token: 1 makes for the earliest ends, less for earlier beginnings and
    a shorter longest wait. `reuse` is the probability that an evicted block would have been asked for again. A node
    whose predictions are off by more than `doubt_above` (1 = by as much as themselves) is never waited for.
    """

    name: ClassVar[str] = "fastest_completion"
    late_binding: bool = True
    hold_above: Amount = 2.0
    decode_cap: Count = 0
    decoding: Amount = 0.1
    reuse: Share = 0.1
    doubt_above: Amount = 1.0

    @property
    def binds_late(self) -> bool:
        return True

    def score(self, request: Request, view: View) -> Scores:
        return self._score(view, wait_seconds(view, view.prompt_tokens + view.output_tokens))

    def choose(self, request: Request, view: View) -> Choice | Hold:
        if view.is_small and not self.decode_cap:
            return self._choose_of_few(view)
        wait = wait_seconds(view, view.prompt_tokens + view.output_tokens)
        scores = self._score(view, wait)
        index = lowest(scores, view.draw)
        if self.late_binding and self._must_hold(view, wait, index):
            return Hold(scores, "full")
        return Choice(index, scores, "cost")

    def pick(self, requests: Sequence[Request], views: Sequence[View]) -> int:
        """Of the tickets whose best node is open the one with most regret, the earlier on ties; else the head."""
        return int(self._regrets(stacked(views)).argmax())

    def _choose_of_few(self, view: View) -> Choice | Hold:
        waits = waits_of_few(view)
        costs = costs_of_few(view, waits, self.decoding, self.reuse)
        index = least_of(costs, view)
        shut = min(waits) > self.hold_above / view.gateways
        if self.late_binding and shut and view.candidates[index].prediction_error <= self.doubt_above:
            return Hold(costs, "full")
        return Choice(index, costs, "cost")

    def _score(self, view: View, wait: Floats) -> Scores:
        cost = service_and_harm(view, self.decoding, self.reuse)
        cost += wait
        if self.decode_cap:
            return tiered(cost, view.outstanding < self.decode_cap, view.outstanding)
        return cost

    def _must_hold(self, view: View, wait: Floats, best: int) -> bool:
        """No candidate is open, and the best one's figures are to be believed."""
        shut = all_shut(view, wait, self.hold_above, self.decode_cap)
        return shut and bool(view.prediction_error[best] <= self.doubt_above)

    def _regrets(self, view: View) -> Floats:
        """Seconds each ticket of a stacked view would lose by not getting its best node; −1 where that is not open.

        It would get its second best, or where there is but one, wait for another like it, without its cache.
        """
        wait = wait_seconds(view, float(np.max(view.prompt_tokens + view.output_tokens)))
        scores = self._score(view, wait)
        open_ = open_nodes(view, wait, self.hold_above, self.decode_cap)
        return regrets(scores, open_, (uncached_prefill(view) - view.prefill_seconds)[:, 0])
