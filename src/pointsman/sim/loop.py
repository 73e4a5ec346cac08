"""Events on a virtual clock.

Events happen in order of (time, rank, ticket): at one moment, engines step before the gateway hears of it, it hears
before it is woken, and all of that comes before new requests; events alike in both happen in the order they were
entered. So a run depends on nothing but its inputs.
"""

from collections.abc import Callable
from enum import IntEnum
from heapq import heappop, heappush
from typing import Any


class Rank(IntEnum):
    """What comes first among events of one moment."""

    ENGINE = 0
    HEARD = 1
    BRAIN = 2
    CLIENT = 3
    OBSERVER = 4


class Loop:
    """A clock that moves from event to event. `now`: seconds, never falling."""

    def __init__(self, start: float) -> None:
        self.now = start
        self._events: list[tuple[float, int, int, Callable[[Any], None], Any]] = []
        self._tickets = 0
        self._stopped = False

    def at(self, moment: float, rank: Rank, action: Callable[[Any], None], argument: Any = None) -> None:
        """Call `action(argument)` at `moment`. Raises ValueError if that lies in the past."""
        if moment < self.now:
            raise ValueError(f"it is {self.now} s; nothing can be done at {moment} s any more")
        self._tickets += 1
        heappush(self._events, (moment, rank, self._tickets, action, argument))

    def run(self) -> None:
        """Let everything happen until `stop` is called or nothing is left."""
        events = self._events
        self._stopped = False
        while events and not self._stopped:
            moment, _, _, action, argument = heappop(events)
            self.now = moment
            action(argument)

    def stop(self) -> None:
        """End `run` after the event under way."""
        self._stopped = True
