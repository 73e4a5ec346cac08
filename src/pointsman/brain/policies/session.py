"""Sticky sessions: each session has a home node, kept while that node is up and not above its fair share.

Rendezvous hashing (D. Thaler, C. Ravishankar, 1998): every candidate gets a hash of (session, node) and the least wins,
so that a node's leaving moves its own sessions only. Bounded load (V. Mirrokni, M. Thorup, M. Zadimoghaddam,
"Consistent hashing with bounded loads", SODA 2018): no candidate takes more than (1 + ε) times the mean in flight; what
does not fit spills to the session's next node. The hash is SplitMix64 over the identities of all nodes at once, so
every gateway finds the same home, before and after a restart.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import xxhash
from numpy.typing import NDArray

from pointsman.brain.model.choice import Choice, Hold, Scores
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import Flags, Floats, View
from pointsman.brain.policies.base import Amount, Policy
from pointsman.brain.policies.least_response_time import LeastResponseTime

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_UNIT = 2.0**-53


@dataclass(frozen=True, slots=True)
class Session(Policy):
    """The session's rendezvous node among those below the bound and within the limits of the policy `within`.

    Scores are the hashes as fractions of 1; a candidate that may not take the session scores 1 more. Without a session
    key, or when no candidate may take it, `within` decides alone.
    """

    name: ClassVar[str] = "session"
    within: Policy = LeastResponseTime()  # noqa: RUF009 - frozen
    epsilon: Amount = 0.25

    def score(self, request: Request, view: View) -> Scores:
        if not request.session:
            return self.within.score(request, view)
        scores = rendezvous(request.session, view.identity.astype(np.uint64))
        scores += ~self.within_limits(view)
        return scores

    def choose(self, request: Request, view: View) -> Choice | Hold:
        if not request.session:
            return self.within.choose(request, view)
        scores = self.score(request, view)
        index = int(scores.argmin())
        if scores[index] >= 1.0:
            return self.within.choose(request, view)
        return Choice(index, scores, "home" if scores[index] <= np.mod(scores, 1.0).min() else "spill")

    def within_limits(self, view: View) -> Flags:
        outstanding = view.outstanding
        bound = math.ceil((1.0 + self.epsilon) * (float(outstanding.sum()) + 1.0) / len(view))
        allowed: Flags = (outstanding < bound) & self.within.within_limits(view)
        return allowed


def rendezvous(session: str, nodes: NDArray[np.uint64]) -> Floats:
    """One hash in [0, 1) for each node: SplitMix64's finaliser of (hash of the session + identity x golden ratio)."""
    z = nodes * _GOLDEN
    z += np.uint64(xxhash.xxh3_64_intdigest(session.encode()))
    z ^= z >> np.uint64(30)
    z *= _MIX_1
    z ^= z >> np.uint64(27)
    z *= _MIX_2
    z ^= z >> np.uint64(31)
    hashes: Floats = np.multiply(z >> np.uint64(11), _UNIT)
    return hashes
