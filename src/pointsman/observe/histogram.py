"""Counts in fixed buckets: what a quantile is later read from."""

from bisect import bisect_left


class Histogram:
    """`counts[i]` observations were at most `bounds[i]` and above the bound before; the last count is the rest."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def cumulative(self) -> list[tuple[str, float]]:
        """Prometheus's buckets: (upper bound as text, observations up to it), ending with +Inf."""
        buckets, seen = [], 0
        for bound, count in zip((*self.bounds, float("inf")), self.counts, strict=True):
            seen += count
            buckets.append((f"{bound:g}" if bound != float("inf") else "+Inf", float(seen)))
        return buckets
