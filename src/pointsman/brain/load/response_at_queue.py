"""What response times are typical of a node with as many requests on it as now.

After Prequal (NSDI 2024), whose replicas report the median latency of recent requests that arrived at a similar number
of requests in flight. Similar means the same bucket here; buckets widen with the queue (some 40 % each), and one that
nothing was seen in yet speaks by the nearest that has. A median follows its samples by steps of a fixed share, up or
down, so that no sample need be kept: it settles where as many are above as below.
"""

from bisect import bisect_right
from collections.abc import MutableSequence, Sequence
from typing import Final

from pointsman.brain.model.view import Floats

EDGES: Final = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
"""Bucket b holds the queues from EDGES[b − 1] up to, and not including, EDGES[b]."""
STEP: Final = 0.05
"""Share by which a settled median moves for each sample: within 5 % of the truth, and twice as much in 15 samples."""


_LONGEST: Final = 256
_BUCKETS: Final = [bisect_right(EDGES, queue) for queue in range(_LONGEST + 1)]
"""By queue; all longer ones are in the last."""


class _Medians:
    """What was seen on one node, by bucket; `nearest` is the bucket that speaks for each."""

    __slots__ = ("nearest", "samples", "seconds")

    def __init__(self) -> None:
        self.seconds = [0.0] * (len(EDGES) + 1)
        self.samples = [0] * (len(EDGES) + 1)
        self.nearest: list[int] = []

    def observe(self, bucket: int, seconds: float) -> None:
        samples = self.samples[bucket]
        self.samples[bucket] = samples + 1
        if not samples:
            self.seconds[bucket] = seconds
            self.nearest = nearest([each for each, seen in enumerate(self.samples) if seen])
            return
        median = self.seconds[bucket]
        factor = 1.0 + max(STEP, 1.0 / (1.0 + samples))
        if seconds > median:
            self.seconds[bucket] = min(seconds, median * factor)
        elif seconds < median:
            self.seconds[bucket] = max(seconds, median / factor)


class ResponseAtQueue:
    """Writes `out` (seconds): the median of the bucket a node's queue is in; `otherwise` where nothing was seen."""

    def __init__(self, out: MutableSequence[float], otherwise: Sequence[float]) -> None:
        self._out = out
        self._otherwise = otherwise
        self._queues = [-1.0] * len(out)  # what `out` was last looked up for
        self._seen: dict[int, _Medians] = {}

    def start(self, row: int) -> None:
        """A new node takes the row, or the one there has changed: nothing is known of it."""
        self._seen.pop(row, None)
        self._queues[row] = -1.0
        self._out[row] = self._otherwise[row]

    def observe(self, row: int, queue: float, seconds: float) -> None:
        """A response took `seconds` on a node that had `queue` other requests when it was sent."""
        seen = self._seen.get(row)
        if seen is None:
            seen = self._seen[row] = _Medians()
        seen.observe(_bucket(queue), seconds)
        self._queues[row] = -1.0

    def refresh(self, outstanding: Floats) -> None:
        """Look up what the queues of the first len(outstanding) rows stand for now, where it may have changed."""
        queues = self._queues
        for row, queue in enumerate(outstanding.tolist()):
            if queue != queues[row]:
                seen = self._seen.get(row)
                if seen is None:
                    self._out[row] = self._otherwise[row]
                else:
                    self._out[row] = seen.seconds[seen.nearest[_bucket(queue)]]
                    queues[row] = queue


def _bucket(queue: float) -> int:
    return _BUCKETS[min(int(queue), _LONGEST)]


def nearest(seen: Sequence[int]) -> list[int]:
    """For each bucket the nearest of those `seen` (in order, at least one), the lower one of two."""
    return [min(seen, key=lambda each: abs(each - bucket)) for bucket in range(len(EDGES) + 1)]
