"""Mooncake's conductor: the least estimated time to the first token, moving KV cache where that pays.

R. Qin et al., "Mooncake: a KVCache-centric disaggregated architecture for LLM serving", FAST 2025, algorithm 1: a node
whose own prefix is much shorter than the best one elsewhere is taken to fetch the difference. `transfer_per_token` is
what a token's KV takes to travel; 0, the default, says that nodes cannot fetch, as stock engines cannot.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pointsman.brain.model.choice import Choice, Scores
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import Flags, Floats, View
from pointsman.brain.policies.base import Amount, Policy
from pointsman.brain.policies.pickers import greatest, lowest


@dataclass(frozen=True, slots=True)
class MooncakeConductor(Policy):
    """min transfer_j + queue_j + prefill_j, seconds. A node fetches if the best prefix is `balance` times its own."""

    name: ClassVar[str] = "mooncake_conductor"
    transfer_per_token: Amount = 0.0
    balance: Amount = 4.0

    def score(self, request: Request, view: View) -> Scores:
        local = view.backlog_seconds + view.prefill_seconds
        return np.where(self._fetches(view), self._fetched(view), local) if self.transfer_per_token else local

    def choose(self, request: Request, view: View) -> Choice:
        scores = self.score(request, view)
        return Choice(lowest(scores, view.draw), scores, "ttft")

    def _fetches(self, view: View) -> Flags:
        flags: Flags = greatest(view.overlap) > self.balance * view.overlap
        return flags

    def _fetched(self, view: View) -> Floats:
        best = greatest(view.overlap)
        miss = view.prompt_tokens - best
        prefill = view.prefill_base + miss * (view.prefill_per_token + view.prefill_per_pair * (best + 0.5 * miss))
        fetched: Floats = (best - view.overlap) * self.transfer_per_token + view.backlog_seconds + prefill
        return fetched
