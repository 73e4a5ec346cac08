"""The highest load at which a policy still keeps the objective, from a few loads at which it was tried.

The share of requests inside the objective is known at some loads. It is followed from the lowest load upwards to the
first at which it falls below the target; there, it is taken to fall in a straight line from the load before. What a
policy does beyond, where it may rise again by chance, counts for nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

Bound = Literal["", "below", "above"]
STRIDE = 1.3
"""From one load to the next where the target lies beyond all that were tried."""


class Crossing(msgspec.Struct, frozen=True):
    """Where the share falls below the target: at `load`, or outside of what was tried, `below` or `above` `load`."""

    load: float
    bound: Bound = ""


def crossing(shares: Mapping[float, float], target: float) -> Crossing:
    """Where the share by load falls below `target`. Raises ValueError for no load at all."""
    before, after = bracket(shares, target)
    if before is None or after is None:
        return Crossing(min(shares), "below") if before is None else Crossing(before, "above")
    high, low = shares[before], shares[after]
    return Crossing(before + (after - before) * (high - target) / (high - low))


def bracket(shares: Mapping[float, float], target: float) -> tuple[float | None, float | None]:
    """The last load that keeps the target and the first that does not; None where there is none of the kind."""
    before = None
    for load in sorted(shares):
        if shares[load] < target:
            return before, load
        before = load
    if before is None:
        raise ValueError("a share is needed at one load at least")
    return before, None


def next_loads(shares: Mapping[float, float], targets: Sequence[float]) -> set[float]:
    """Where to try next, to know better where the targets are crossed.

    In the middle of the bracket; where there is none, beyond what was tried: up while the target is kept, else down.
    """
    found = (bracket(shares, target) for target in targets)
    return {_between(before, after) for before, after in found}


def _between(before: float | None, after: float | None) -> float:
    if before is None:
        assert after is not None
        return after / STRIDE
    return before * STRIDE if after is None else (before + after) / 2
