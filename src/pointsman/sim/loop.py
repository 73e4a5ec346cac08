"""Events on a virtual clock.

Events happen in order of (time, rank, ticket): at one moment, engines step before the gateway hears of it, it hears
before it is woken, and all of that comes before new requests; events alike in both happen in the order they were
entered. So a run depends on nothing but its inputs.

Most of what is pending is patience with some first token, half a minute ahead, which will not be needed. So only what
comes within a stride is kept in order; what lies further ahead waits in a list until the clock has come near it.
"""

from collections.abc import Callable
from enum import IntEnum
from heapq import heapify, heappop, heappush
from typing import Any, Final

STRIDE_S: Final = 5.0
"""What is further ahead is looked at some six times until it is due, and makes no other event more costly."""

Event = tuple[Any, ...]
"""(moment, rank, ticket, action, argument); declared so, it would be made anew wherever compiled code moves it."""


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
        self._events: list[Event] = []  # those until `_horizon`, a heap
        self._later: list[Event] = []  # all others
        self._horizon = start + STRIDE_S
        self._tickets = 0
        self._stopped = False

    def at(self, moment: float, rank: Rank, action: Callable[[Any], None], argument: Any = None) -> None:
        """Call `action(argument)` at `moment`. Raises ValueError if that lies in the past."""
        if moment < self.now:
            raise ValueError(f"it is {self.now} s; nothing can be done at {moment} s any more")
        self._tickets += 1
        if moment <= self._horizon:
            heappush(self._events, (moment, rank, self._tickets, action, argument))
        else:
            self._later.append((moment, rank, self._tickets, action, argument))

    def run(self) -> None:
        """Let everything happen until `stop` is called or nothing is left."""
        self._stopped = False
        while not self._stopped and (self._events or self._come_near()):
            event = heappop(self._events)
            self.now = event[0]
            event[3](event[4])

    def _come_near(self) -> bool:
        """Take up what comes within a stride of the next event; false if there is none."""
        later = self._later
        if not later:
            return False
        horizon = self._horizon = min(later)[0] + STRIDE_S
        near: list[Event] = []
        far: list[Event] = []
        for event in later:
            (near if event[0] <= horizon else far).append(event)
        heapify(near)
        self._events, self._later = near, far
        return True

    def stop(self) -> None:
        """End `run` after the event under way."""
        self._stopped = True
