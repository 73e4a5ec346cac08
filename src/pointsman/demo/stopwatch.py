"""Engine time: the clock the emulated engines live by, seen from the client."""

import asyncio

from pointsman.clock import Clock


class EngineTime:
    """Engine seconds since the run began: wall seconds times the time scale."""

    __slots__ = ("_clock", "_origin", "scale")

    def __init__(self, clock: Clock, scale: float) -> None:
        self._clock = clock
        self._origin = clock.now()
        self.scale = scale

    def now(self) -> float:
        return (self._clock.now() - self._origin) * self.scale

    async def until(self, moment_s: float) -> float:
        """Sleep until that engine second; returns how late (engine seconds, ≥ 0) the sleeper woke up."""
        await asyncio.sleep(max(0.0, moment_s - self.now()) / self.scale)
        return max(0.0, self.now() - moment_s)
