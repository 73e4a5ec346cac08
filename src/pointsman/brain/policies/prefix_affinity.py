"""Prefix affinity: the longest cached prefix, nothing else.

A negative control. It funnels: a popular prefix keeps all its requests on the one node that has it, however long that
node's queue grows. Use it to see what the other policies' load terms are worth.
"""

from dataclasses import dataclass
from typing import ClassVar

from pointsman.brain.model.choice import Choice, Scores
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import View
from pointsman.brain.policies.base import Policy
from pointsman.brain.policies.pickers import lowest


@dataclass(frozen=True, slots=True)
class PrefixAffinity(Policy):
    """min miss_j: the prompt tokens the candidate does not hold; ties at random."""

    name: ClassVar[str] = "prefix_affinity"

    def score(self, request: Request, view: View) -> Scores:
        return view.miss

    def choose(self, request: Request, view: View) -> Choice:
        scores = self.score(request, view)
        index = lowest(scores, view.draw)
        return Choice(index, scores, "affinity" if scores[index] < view.prompt_tokens else "random")
