"""Fastest completion: one cost, in seconds, of placing a request on a node: what it adds to everybody's waiting.

    cost_j = wait + prefill + out·tpot + harm + penalty

- wait: booked prefill ahead and, where blocks must free first, the predicted time until they do;
- prefill: of the tokens not cached on j;
- out·tpot: decoding the expected output in j's batch with this request in it;
- harm: what others lose. Each decoding request stands still for the added prefill, each member of the batch decodes
  slower for as long as it shares the batch (half of the output, on average), and each evicted token costs its
  recomputation with the probability that it would have been used again.

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
from pointsman.brain.model.view import Flags, Floats, View
from pointsman.brain.policies.base import Policy
from pointsman.brain.policies.pickers import least, lowest, tiered
from pointsman.brain.policies.window import by_candidates, stacked

# As arrays, because NumPy converts a Python float anew in every call, at half the cost of the call itself.
_ZERO = np.array(0.0)
_HALF = np.array(0.5)


@dataclass(frozen=True, slots=True)
class FastestCompletion(Policy):
    """min cost_j, seconds; held while every wait is above `hold_above` seconds, shared by the view's gateways.

    `late_binding` off never holds. `hold_above` must not be below the P99 of the feedback delay. `decode_cap` requests
    at most run on a node (0: as many as the node's slots). `reuse` is the probability that an evicted block would have
    been asked for again. A node whose predictions are off by more than `doubt_above` (1 = by as much as themselves) is
    never waited for.
    """

    name: ClassVar[str] = "fastest_completion"
    binds_late: ClassVar[bool] = True
    late_binding: bool = True
    hold_above: float = 2.0
    decode_cap: int = 0
    reuse: float = 0.1
    doubt_above: float = 1.0

    def score(self, request: Request, view: View) -> Scores:
        return self._score(view, self._wait(view, view.prompt_tokens + view.output_tokens))

    def choose(self, request: Request, view: View) -> Choice | Hold:
        wait = self._wait(view, view.prompt_tokens + view.output_tokens)
        scores = self._score(view, wait)
        index = lowest(scores, view.draw)
        if self.late_binding and self._must_hold(view, wait, index):
            return Hold(scores, "full")
        return Choice(index, scores, "cost")

    def pick(self, requests: Sequence[Request], views: Sequence[View]) -> int:
        """Of the tickets whose best node is open the one with most regret, the earlier on ties; else the head."""
        regrets = np.zeros(len(views))
        for alike in by_candidates(views):
            regrets[alike] = self._regrets(stacked([views[index] for index in alike]))
        return int(regrets.argmax())

    def _score(self, view: View, wait: Floats) -> Scores:
        cost = self._decode(view)
        prefill = view.prefill_seconds
        cost += prefill
        cost += prefill * view.running
        cost += wait
        cost += self._eviction(view)
        cost += view.penalty_seconds
        if self.decode_cap:
            return tiered(cost, view.outstanding < self.decode_cap, view.outstanding)
        return cost

    def _decode(self, view: View) -> Floats:
        """Seconds of our own decoding, and what the batch loses by one more member.

        The batch is everything in flight up to the slots: what is being prefilled now will decode beside us.
        """
        context = view.prompt_tokens + 0.5 * view.output_tokens
        batch = np.minimum(view.outstanding, view.slots)
        member = view.tpot_per_sequence + context * view.tpot_per_context
        step: Floats = view.tpot_base + batch * view.tpot_per_sequence
        step += view.context_tokens * view.tpot_per_context
        step = step + member
        member *= batch
        member *= _HALF
        step += member
        step *= view.output_tokens
        return step

    def _wait(self, view: View, most_tokens: float) -> Floats:
        """Seconds until the node turns to a request. Blocks free at the pace at which their holders finish.

        `most_tokens`: prompt and output of the view's request (the longest one of a stacked view).
        """
        room = view.room_tokens
        if least(room) >= most_tokens:
            return view.backlog_seconds
        needed = view.prompt_tokens + view.output_tokens
        reserved = np.maximum(view.kv_reserved * view.block_tokens, 1.0)
        return view.backlog_seconds + np.maximum(needed - room, 0.0) / reserved * view.service_seconds

    def _eviction(self, view: View) -> Floats:
        """Seconds of prefill that the cached blocks to be evicted are expected to cost later."""
        cached = view.kv_cached * view.block_tokens
        evicted = view.miss + view.output_tokens
        evicted -= view.room_tokens
        evicted += cached
        np.minimum(evicted, cached, out=evicted)
        np.maximum(evicted, _ZERO, out=evicted)
        evicted *= view.prefill_per_token
        evicted *= self.reuse
        return evicted

    def _must_hold(self, view: View, wait: Floats, best: int) -> bool:
        """No candidate is open, and the best one's figures are to be believed."""
        if not self.decode_cap and least(wait) <= self.hold_above / view.gateways:
            return False
        return not self._open(view, wait).any() and bool(view.prediction_error[best] <= self.doubt_above)

    def _open(self, view: View, wait: Floats) -> Flags:
        """Where a request would not wait longer than this gateway's share of the bound."""
        short: Flags = wait <= self.hold_above / view.gateways
        return short & (view.outstanding < self.decode_cap) if self.decode_cap else short

    def _regrets(self, view: View) -> Floats:
        """Seconds each ticket of a stacked view loses by its second-best node; −1 where the best is not open."""
        wait = self._wait(view, float(np.max(view.prompt_tokens + view.output_tokens)))
        scores = self._score(view, wait)
        if scores.shape[1] == 1:
            return np.zeros(len(scores))
        best = scores.argmin(axis=1)
        open_ = np.broadcast_to(self._open(view, wait), scores.shape)[np.arange(len(best)), best]
        ordered = np.partition(scores, 1, axis=1)
        return np.where(open_, ordered[:, 1] - ordered[:, 0], -1.0)
