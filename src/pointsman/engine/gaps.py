"""The longest step since an earlier one, for any earlier one: what a sequence that got a token in each had to wait.

Kept are only steps that no later one reaches: their lengths fall, so the first of them after a given step is the
longest after it. There are few, however many steps there were.
"""

from bisect import bisect_right


class LongestSteps:
    """Steps are entered in order, by number and length in seconds; of several of one stretch the longest will do."""

    __slots__ = ("_seconds", "_steps")

    def __init__(self) -> None:
        self._steps: list[int] = []
        self._seconds: list[float] = []

    def add(self, step: int, seconds: float) -> None:
        """It has ended, and took so long."""
        while self._seconds and self._seconds[-1] <= seconds:
            self._seconds.pop()
            self._steps.pop()
        self._steps.append(step)
        self._seconds.append(seconds)

    def after(self, step: int) -> float:
        """Length of the longest step after `step`; 0 if there was none."""
        place = bisect_right(self._steps, step)
        return self._seconds[place] if place < len(self._seconds) else 0.0
