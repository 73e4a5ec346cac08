"""Hybrid: least response time while the fleet is calm, fastest recovery while a node is overloaded."""

from dataclasses import dataclass
from typing import ClassVar

from pointsman.brain.model.choice import Choice, Scores
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import Flags, View
from pointsman.brain.policies.base import Amount, Policy, Positive
from pointsman.brain.policies.fastest_recovery import FastestRecovery
from pointsman.brain.policies.least_response_time import LeastResponseTime
from pointsman.brain.policies.pickers import every, greatest, least, lowest, tiered

_RESPONSE = LeastResponseTime()
_RECOVERY = FastestRecovery()


@dataclass(frozen=True, slots=True)
class Hybrid(Policy):
    """All loads below `calm_below`: least response time; any above `recover_above`: fastest recovery.

    In between the mode of the last choice stays (hysteresis; it travels in the memo as "response" or "recovery").
    A candidate slower than `response_limit_s` counts as unavailable, unless all are.
    """

    name: ClassVar[str] = "hybrid"
    calm_below: Amount = 0.7
    recover_above: Amount = 0.9
    response_limit_s: Positive = 2.0

    def __post_init__(self) -> None:
        if self.calm_below > self.recover_above:
            raise ValueError(f"`calm_below` must not be above `recover_above` ({self.recover_above:g})")

    def within_limits(self, view: View) -> Flags:
        limits: Flags = _RESPONSE.within_limits(view) & (view.response_seconds <= self.response_limit_s)
        return limits

    def score(self, request: Request, view: View) -> Scores:
        policy = _RECOVERY if self._mode(view) == "recovery" else _RESPONSE
        scores = policy.score(request, view)
        slow = view.response_seconds > self.response_limit_s
        return scores if every(slow) else tiered(scores, ~slow, scores - least(scores))

    def choose(self, request: Request, view: View) -> Choice:
        scores = self.score(request, view)
        mode = self._mode(view)
        return Choice(lowest(scores, view.draw), scores, mode, memo=mode)

    def _mode(self, view: View) -> str:
        highest = greatest(view.load)
        if highest > self.recover_above:
            return "recovery"
        if highest < self.calm_below or view.memo != "recovery":
            return "response"
        return "recovery"
