"""How far two orders of the same policies agree, and what trusting the first costs under the second."""

from collections.abc import Sequence
from itertools import combinations
from math import sqrt

import numpy as np

LEAST_POLICIES = 8
"""Of fewer, a single exchange moves the correlation so far that it says nothing."""


def kendall_tau(first: Sequence[float], second: Sequence[float], tie: float = 0.0) -> float | None:
    """Kendall's τ-b of two rows of figures, one a policy: 1 for the same order, −1 for the opposite one.

    Values within the share `tie` of the larger are equal. None where all are, in either row.
    """
    pairs = list(combinations(range(len(first)), 2))
    a = np.array([_sign(first[i], first[j], tie) for i, j in pairs])
    b = np.array([_sign(second[i], second[j], tie) for i, j in pairs])
    known = sqrt(int(np.count_nonzero(a)) * int(np.count_nonzero(b)))
    return float((a * b).sum()) / known if known else None


def top1_regret(first: Sequence[float], second: Sequence[float], *, higher: bool) -> float:
    """What the best of the first row loses to the best of the second, there, as a share of what is best there.

    Of equally good ones in the first row, the one that does worst in the second counts. Figures are not negative.
    """
    sign = 1.0 if higher else -1.0
    a, b = sign * np.array(first, dtype=float), np.array(second, dtype=float)
    trusted = b[a == a.max()]
    chosen, best = (float(trusted.min()), float(b.max())) if higher else (float(trusted.max()), float(b.min()))
    return abs(best - chosen) / best if best else 0.0


def _sign(one: float, other: float, tie: float) -> int:
    if abs(one - other) <= tie * max(abs(one), abs(other)):
        return 0
    return 1 if one > other else -1
