"""Fastest recovery among the available: the node whose load falls fastest. For availability first, not for latency."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from pointsman.brain.model.choice import Choice, Scores
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import Flags, View
from pointsman.brain.policies.base import Policy, Positive
from pointsman.brain.policies.pickers import lowest, tiered


@dataclass(frozen=True, slots=True)
class FastestRecovery(Policy):
    """max recovery rate over load_j ≤ `load_limit`; the score is −rate, in load per second.

    `measure="slope"`: the smoothed fall of load (see `load/recovery.py`); when no available candidate recovers, or with
    `measure="headroom"`, the rate is (load_limit − load_j)/window_s. Candidates above the limit rank last, by load.
    """

    name: ClassVar[str] = "fastest_recovery"
    measure: Literal["slope", "headroom"] = "slope"
    load_limit: Positive = 0.9
    window_s: Positive = 60.0

    def within_limits(self, view: View) -> Flags:
        return view.load <= self.load_limit

    def score(self, request: Request, view: View) -> Scores:
        available = self.within_limits(view)
        slope = view.recovery_slope
        if self.measure == "slope" and np.max(slope, where=available, initial=0.0) > 0.0:
            return tiered(-slope, available, view.load)
        return tiered((view.load - self.load_limit) / self.window_s, available, view.load)

    def choose(self, request: Request, view: View) -> Choice:
        scores = self.score(request, view)
        index = lowest(scores, view.draw)
        return Choice(index, scores, "recovery" if view.load[index] <= self.load_limit else "overloaded")
