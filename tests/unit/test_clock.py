import pytest

from pointsman.clock import ManualClock, WallClock, unix_seconds


def test_a_manual_clock_moves_only_when_told() -> None:
    clock = ManualClock(5.0)
    assert clock.now() == 5.0
    clock.advance_to(7.5)
    assert clock.now() == 7.5


def test_a_manual_clock_does_not_go_back() -> None:
    clock = ManualClock(5.0)
    with pytest.raises(ValueError, match="does not go back to 4"):
        clock.advance_to(4.0)
    assert clock.now() == 5.0


def test_wall_clocks_agree_and_never_fall() -> None:
    readings = [WallClock().now() for _ in range(100)]
    assert readings == sorted(readings)


def test_unix_time_is_of_this_age() -> None:
    assert unix_seconds() > 1.7e9
