"""The middle of some figures, of a fleet of a few nodes at a fraction of what an array would cost."""

from collections.abc import Iterable


def median(values: Iterable[float]) -> float:
    """The median of at least one value, none of them NaN."""
    ordered = sorted(values)
    last = len(ordered) - 1
    return 0.5 * (ordered[last // 2] + ordered[last - last // 2])
