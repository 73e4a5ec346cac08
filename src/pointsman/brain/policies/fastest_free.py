"""Join the fastest free node: what is not free is not joined, the request waits centrally instead.

The JFFC rule of T. Sun, T. He, I.-H. Hou (2026): the fastest chain with a free slot takes the arrival; with none, the
arrival waits in one queue, and each release pulls the head of it. It knows no cache and fills all slots of the fastest
node before it looks at the next, so it suits long answers over nodes of few slots. The policy `jffc` shares the letters
and no more: a weighted score of load, cache and resources, which forwards to the cache and always places.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pointsman.brain.model.choice import Choice, Hold, Scores
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import View
from pointsman.brain.policies.base import Policy
from pointsman.brain.policies.pickers import lowest


@dataclass(frozen=True, slots=True)
class FastestFree(Policy):
    """Score −speed_j while q_j < slots_j, else 0; a hold when no candidate is free."""

    name: ClassVar[str] = "fastest_free"

    def score(self, request: Request, view: View) -> Scores:
        return np.where(view.outstanding < view.slots, -view.speed, 0.0)

    def choose(self, request: Request, view: View) -> Choice | Hold:
        scores = self.score(request, view)
        index = lowest(scores, view.draw)
        return Choice(index, scores, "free") if scores[index] < 0.0 else Hold(scores, "full")
