"""Engine time follows the wall clock, scaled."""

from pointsman.clock import ManualClock
from pointsman.demo.stopwatch import EngineTime


def test_engine_seconds_pass_by_the_scale():
    clock = ManualClock(100.0)
    time = EngineTime(clock, 5.0)
    clock.advance_to(102.0)
    assert time.now() == 10.0


async def test_a_moment_past_is_not_waited_for_and_lateness_is_told():
    clock = ManualClock(0.0)
    time = EngineTime(clock, 5.0)
    clock.advance_to(1.0)
    assert await time.until(4.0) == 1.0
