"""Time as an argument: the one module that reads the machine's clock."""

import time
from typing import Protocol


class Clock(Protocol):
    """Where `now` comes from. Seconds, never falling; the zero point is the clock's own."""

    def now(self) -> float: ...


class WallClock:
    """Monotonic seconds of this machine."""

    __slots__ = ()
    now = staticmethod(time.monotonic)


class ManualClock:
    """A clock for tests and simulations that moves only when told, and refuses to move back."""

    __slots__ = ("_now",)

    def __init__(self, start: float = 0.0) -> None:
        self._now = start

    def now(self) -> float:
        return self._now

    def advance_to(self, moment: float) -> None:
        """Move to `moment` (seconds). Raises ValueError if that lies in the past."""
        if moment < self._now:
            raise ValueError(f"the clock stands at {self._now} s and does not go back to {moment} s")
        self._now = moment


def unix_seconds() -> float:
    """Seconds since 1970, for time stamps people read; never for durations."""
    return time.time()
