"""Counts in fixed buckets: what a quantile is later read from."""


class Histogram:
    """`counts[i]` observations were at most `bounds[i]` and above the bound before; the last count is the rest."""

    __slots__ = ("_last", "bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self._last = len(bounds)
        self.total = 0.0

    def observe(self, value: float) -> None:
        bounds, low, high = self.bounds, 0, self._last
        while low < high:  # `bisect_left`, for which compiled code would make an object of each number it compares
            middle = (low + high) >> 1
            if bounds[middle] < value:
                low = middle + 1
            else:
                high = middle
        self.counts[low] += 1
        self.total += value

    def cumulative(self) -> list[tuple[str, float]]:
        """Prometheus's buckets: (upper bound as text, observations up to it), ending with +Inf."""
        buckets, seen = [], 0
        for bound, count in zip((*self.bounds, float("inf")), self.counts, strict=True):
            seen += count
            buckets.append((f"{bound:g}" if bound != float("inf") else "+Inf", float(seen)))
        return buckets
