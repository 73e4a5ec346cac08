"""Two choices by tokens: of two random candidates, the one that would have computed the prompt sooner.

The power of two choices (M. Mitzenmacher, IEEE TPDS 2001) with seconds of uncached tokens for queue length, so that one
long prompt weighs as much as many short ones. Robust to stale state like its model.
"""

from dataclasses import dataclass
from typing import ClassVar

from pointsman.brain.model.choice import Choice, Scores
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import View
from pointsman.brain.policies.base import Policy
from pointsman.brain.policies.pickers import lower_of_two


@dataclass(frozen=True, slots=True)
class TokenTwoChoices(Policy):
    """The less (miss_j + backlog_j)·prefill seconds per token of two distinct random candidates."""

    name: ClassVar[str] = "token_two_choices"

    def score(self, request: Request, view: View) -> Scores:
        return (view.miss + view.backlog_tokens) * view.prefill_per_token

    def choose(self, request: Request, view: View) -> Choice:
        scores = self.score(request, view)
        return Choice(lower_of_two(scores, view.draw), scores, "two")
