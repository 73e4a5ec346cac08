"""One sweep asks everything that has a deadline."""

import asyncio

from pointsman.clock import ManualClock
from pointsman.gateway import deadlines
from pointsman.gateway.deadlines import Deadlines


class Thing:
    def __init__(self, sweep: Deadlines) -> None:
        self._sweep = sweep
        self.asked: list[float] = []

    def check(self, now: float) -> None:
        self.asked.append(now)
        self._sweep.forget(self)


async def test_sweeping() -> None:
    sweep = Deadlines(asyncio.get_running_loop(), ManualClock(3.0))
    things = [Thing(sweep) for _ in range(3)]
    for thing in things:
        sweep.watch(thing)
    sweep._sweep()
    sweep._sweep()
    sweep.stop()
    assert [thing.asked for thing in things] == [[3.0]] * 3
    assert deadlines.SWEEP_S <= 0.25
