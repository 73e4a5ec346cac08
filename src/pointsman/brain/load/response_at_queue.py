"""What response times are typical of a node with as many requests on it as now.

After Prequal (NSDI 2024), whose replicas report the median latency of recent requests that arrived at a similar number
of requests in flight. Similar means the same bucket here; buckets widen with the queue (some 40 % each), and one that
nothing was seen in yet speaks by the nearest that has. A median follows its samples by steps of a fixed share, up or
down, so that no sample need be kept: it settles where as many are above as below.
"""

from bisect import bisect_right
from collections.abc import MutableSequence, Sequence

from pointsman.brain.model.view import Floats

EDGES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
"""Bucket b holds the queues from EDGES[b − 1] up to, and not including, EDGES[b]."""
STEP = 0.05
"""Share by which a settled median moves for each sample: within 5 % of the truth, and twice as much in 15 samples."""


class ResponseAtQueue:
    """Writes `out` (seconds): the median of the bucket a node's queue is in; `otherwise` where nothing was seen."""

    def __init__(self, out: MutableSequence[float], otherwise: Sequence[float]) -> None:
        self._out = out
        self._otherwise = otherwise
        self._queues = [-1.0] * len(out)  # what `out` was last looked up for
        self._nearest: dict[int, list[int]] = {}
        self._seen: dict[int, dict[int, tuple[float, int]]] = {}

    def start(self, row: int) -> None:
        """A new node takes the row, or the one there has changed: nothing is known of it."""
        self._seen.pop(row, None)
        self._nearest.pop(row, None)
        self._queues[row] = -1.0
        self._out[row] = self._otherwise[row]

    def observe(self, row: int, queue: float, seconds: float) -> None:
        """A response took `seconds` on a node that had `queue` other requests when it was sent."""
        bucket = bisect_right(EDGES, queue)
        medians = self._seen.setdefault(row, {})
        median, samples = medians.get(bucket, (seconds, 0))
        factor = 1.0 + max(STEP, 1.0 / (1.0 + samples))
        if samples and seconds != median:
            median = min(seconds, median * factor) if seconds > median else max(seconds, median / factor)
        medians[bucket] = median, samples + 1
        if not samples:
            self._nearest[row] = nearest(sorted(medians))
        self._queues[row] = -1.0

    def refresh(self, outstanding: Floats) -> None:
        """Look up what the queues of the first len(outstanding) rows stand for now, where it may have changed."""
        queues = self._queues
        for row, queue in enumerate(outstanding.tolist()):
            if queue != queues[row]:
                near = self._nearest.get(row)
                if near is None:
                    self._out[row] = self._otherwise[row]
                else:
                    self._out[row] = self._seen[row][near[bisect_right(EDGES, queue)]][0]
                    queues[row] = queue


def nearest(seen: Sequence[int]) -> list[int]:
    """For each bucket the nearest of those `seen` (in order, at least one), the lower one of two."""
    return [min(seen, key=lambda each: abs(each - bucket)) for bucket in range(len(EDGES) + 1)]
