"""The order in which waiting sequences are admitted."""

from heapq import heappop, heappush

from pointsman.engine.sequence import Sequence, Status


class WaitingQueue:
    """First come first served, or by priority (lower value sooner) and then arrival.

    A preempted sequence keeps its arrival order, so it comes back before everything that arrived after it. A sequence
    removed while waiting stays in the heap until it surfaces.
    """

    def __init__(self, by_priority: bool) -> None:
        self._by_priority = by_priority
        self._heap: list[tuple[int, int, Sequence]] = []
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def __bool__(self) -> bool:
        return self._length > 0

    def push(self, sequence: Sequence) -> None:
        heappush(self._heap, (sequence.priority if self._by_priority else 0, sequence.order, sequence))
        self._length += 1

    def head(self) -> Sequence | None:
        """The next sequence to admit, or None."""
        heap = self._heap
        while heap and heap[0][2].status is not Status.WAITING:
            heappop(heap)
        return heap[0][2] if heap else None

    def pop(self) -> None:
        """Take the head out, once `head` has named it."""
        heappop(self._heap)
        self._length -= 1

    def forget(self) -> None:
        """Account for one waiting sequence whose status has just become DONE."""
        self._length -= 1
