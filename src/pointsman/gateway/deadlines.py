"""One sweep for all time-outs of the data plane.

A timer per request and one per connection, armed and cancelled again, would cost more than the relay's own work. What
has a deadline is kept in a set instead and asked four times a second; a time-out is therefore up to 0.25 s late.
"""

import asyncio
from typing import Protocol

from pointsman.clock import Clock

SWEEP_S = 0.25


class Watched(Protocol):
    """Something with time-outs of its own."""

    def check(self, now: float) -> None:
        """End whatever is overdue at `now` (seconds)."""
        ...


class Deadlines:
    """The set of watched things: `watch` adds one, `forget` takes it out. `start` and `stop` bound the sweeping."""

    __slots__ = ("_clock", "_loop", "_timer", "_watched", "forget", "watch")

    def __init__(self, loop: asyncio.AbstractEventLoop, clock: Clock) -> None:
        self._loop = loop
        self._clock = clock
        self._watched: set[Watched] = set()
        self._timer: asyncio.TimerHandle | None = None
        self.watch = self._watched.add
        self.forget = self._watched.discard

    def start(self) -> None:
        self._timer = self._loop.call_later(SWEEP_S, self._sweep)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _sweep(self) -> None:
        now = self._clock.now()
        for watched in tuple(self._watched):
            watched.check(now)
        self.start()
