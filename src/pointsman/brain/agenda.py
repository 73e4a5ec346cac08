"""What is to be done at a given time: a heap of (due, number, action)."""

from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from typing import Any

Action = Callable[[Any, float], None]
"""Called as action(argument, now). It must bear being called late, and for something that is long over."""


class Agenda:
    """Timed actions in order of their time, then of their entry: the same calls give the same order."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Action, Any]] = []
        self._entries = 0

    def add(self, due: float, action: Action, argument: Any = None) -> None:
        """Do `action` at `due` (seconds)."""
        self._entries += 1
        heappush(self._heap, (due, self._entries, action, argument))

    def next_due(self) -> float | None:
        """When the next action is due, or None."""
        return self._heap[0][0] if self._heap else None

    def due(self, now: float) -> Iterator[tuple[Action, Any]]:
        """Take what is due at `now`, in order. Actions added meanwhile and already due are taken too."""
        while self._heap and self._heap[0][0] <= now:
            _, _, action, argument = heappop(self._heap)
            yield action, argument
