"""Hot and cold: shun the candidates with the most in flight, and among the others take the least latency.

B. Wydrowski, R. Kleinberg, S. Rumble, A. Archer, "Load is not what you should balance: Introducing Prequal", NSDI 2024:
the hot-cold lexicographic rule with q_RIF = 2^-0.25 ≈ 0.84. Latency is the median of those that met about as many
requests on the node as are there now (`load/response_at_queue.py`). Prequal probes a sample of replicas; the fleet's
columns give every candidate at once.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pointsman.brain.model.choice import Choice, Scores
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import View
from pointsman.brain.policies.base import Policy, Share
from pointsman.brain.policies.pickers import lowest, tiered


@dataclass(frozen=True, slots=True)
class HotCold(Policy):
    """Hot: q_j above the `quantile` of the candidates. min response_at_queue_j, s, among the cold, then min q_j among
    the hot.
    """

    name: ClassVar[str] = "hot_cold"
    quantile: Share = 0.84

    def score(self, request: Request, view: View) -> Scores:
        outstanding = view.outstanding
        rank = int(self.quantile * (len(view) - 1))
        threshold = np.partition(outstanding, rank)[rank]
        return tiered(view.response_at_queue, outstanding <= threshold, outstanding)

    def choose(self, request: Request, view: View) -> Choice:
        scores = self.score(request, view)
        return Choice(lowest(scores, view.draw), scores, "cold")
