"""What response times are typical of a node with as many requests on it as now.

After Prequal (NSDI 2024), whose replicas report the median latency of recent requests that arrived at a similar number
of requests in flight. Similar means the same bucket here; buckets widen with the queue (some 40 % each), and one that
nothing was seen in yet speaks by the nearest that has. A median follows its samples by steps of a fixed share, up or
down, so that no sample need be kept: it settles where as many are above as below.
"""

from bisect import bisect_right

import numpy as np

from pointsman.brain.model.view import Floats

EDGES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
"""Bucket b holds the queues from EDGES[b − 1] up to, and not including, EDGES[b]."""
STEP = 0.05
"""Share by which a settled median moves for each sample: within 5 % of the truth, and twice as much in 15 samples."""


class ResponseAtQueue:
    """Writes `out` (seconds): the median of the bucket a node's queue is in; `otherwise` where nothing was seen."""

    def __init__(self, out: Floats, otherwise: Floats) -> None:
        self._out = out
        self._otherwise = otherwise
        self._queues: Floats = np.full(len(out), -1.0)  # what `out` was last looked up for
        self._typical: dict[int, list[float]] = {}
        self._seen: dict[int, dict[int, tuple[float, int]]] = {}

    def start(self, row: int) -> None:
        """A new node takes the row, or the one there has changed: nothing is known of it."""
        self._seen.pop(row, None)
        self._typical.pop(row, None)
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
        typical = self._typical.setdefault(row, [median] * (len(EDGES) + 1))
        for near in range(*_nearest(medians, bucket)):
            typical[near] = median
        self._queues[row] = -1.0

    def refresh(self, outstanding: Floats) -> None:
        """Look up what the queues of the first len(outstanding) rows stand for now, where it may have changed."""
        queues = self._queues[: len(outstanding)]
        for row in (queues != outstanding).nonzero()[0].tolist():
            typical = self._typical.get(row)
            if typical is None:
                self._out[row] = self._otherwise[row]
            else:
                queue = outstanding.item(row)
                self._out[row] = typical[bisect_right(EDGES, queue)]
                queues[row] = queue


def _nearest(medians: dict[int, tuple[float, int]], bucket: int) -> tuple[int, int]:
    """The buckets, from and up to, of which `bucket` is the nearest with something seen; the lower one of two."""
    below = max((each for each in medians if each < bucket), default=-1 - 2 * len(EDGES))
    above = min((each for each in medians if each > bucket), default=3 * len(EDGES))
    return max(0, (below + bucket) // 2 + 1), min(len(EDGES) + 1, (bucket + above) // 2 + 1)
