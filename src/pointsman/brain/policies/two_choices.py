"""The power of two choices: of two random candidates, the one with fewer outstanding requests.

M. Mitzenmacher, "The power of two choices in randomized load balancing", IEEE TPDS 2001. The longest queue falls from
log n / log log n to log log n, and because most nodes are not even looked at, stale counts cannot make a herd.
"""

from dataclasses import dataclass
from typing import ClassVar

from pointsman.brain.model.choice import Choice, Scores
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import View
from pointsman.brain.policies.base import Policy
from pointsman.brain.policies.pickers import lower_of_two


@dataclass(frozen=True, slots=True)
class TwoChoices(Policy):
    """The less q_j of two distinct random candidates."""

    name: ClassVar[str] = "two_choices"

    def score(self, request: Request, view: View) -> Scores:
        return view.outstanding

    def choose(self, request: Request, view: View) -> Choice:
        scores = self.score(request, view)
        return Choice(lower_of_two(scores, view.draw), scores, "two")
