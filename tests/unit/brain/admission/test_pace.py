"""How fast a queue moves."""

import pytest

from pointsman.brain.admission.pace import MOST, Pace


def test_nothing_is_expected_before_anything_was_placed() -> None:
    pace = Pace()
    pace.begins(0.0)
    assert pace.expect(3, 1.0) is None


def test_a_place_takes_as_long_as_those_before() -> None:
    pace = Pace()
    pace.begins(0.0)
    for second in range(2, 12, 2):
        pace.placed(float(second), left=True)
    assert pace.expect(1, 10.0) == pytest.approx(2.0)
    assert pace.expect(5, 10.0) == pytest.approx(10.0)


def test_time_in_which_nobody_waits_does_not_count() -> None:
    pace = Pace()
    pace.begins(0.0)
    pace.placed(2.0, left=False)
    pace.placed(500.0, left=False)
    pace.begins(1000.0)
    pace.placed(1002.0, left=False)
    assert pace.expect(1, 1002.0) == pytest.approx(2.0)


def test_what_is_newer_counts_more() -> None:
    pace = Pace()
    pace.begins(0.0)
    pace.placed(1.0, left=True)
    for step in range(1, 31):
        pace.placed(1.0 + 3.0 * step, left=True)
    assert pace.expect(1, 91.0) == pytest.approx(3.0, rel=0.05)


def test_a_far_place_is_foretold_by_as_many_placements_a_near_one_by_the_last_few() -> None:
    pace = Pace()
    pace.begins(0.0)
    for second in range(1, 91):
        pace.placed(float(second), left=True)
    for step in range(1, 11):
        pace.placed(90.0 + 3.0 * step, left=True)
    assert pace.expect(1, 120.0) == pytest.approx(3.0)
    assert pace.expect(100, 120.0) == pytest.approx(120.0)
    assert pace.expect(200, 120.0) == pytest.approx(240.0)


def test_a_long_memory_ends() -> None:
    pace = Pace()
    pace.begins(0.0)
    pace.placed(1_000.0, left=True)
    for step in range(1, MOST + 1):
        pace.placed(1_000.0 + step, left=True)
    assert pace.expect(10 * MOST, 1_000.0 + MOST) == pytest.approx(10 * MOST)


def test_a_queue_that_stands_still_is_expected_to_move_no_faster() -> None:
    """A node fell: its requests were placed anew within a millisecond each, and then nothing moves."""
    pace = Pace()
    pace.begins(0.0)
    for step in range(1, 11):
        pace.placed(0.001 * step, left=True)
    assert pace.expect(1, 0.0105) == pytest.approx(0.001)
    assert pace.expect(1, 11.01) == pytest.approx((0.01 + 11.0) / 11)
    assert pace.expect(3, 11.01) == pytest.approx(3 * (0.01 + 11.0) / 11)
    pace.placed(20.0, left=False)
    assert pace.expect(1, 500.0) == pytest.approx((20.0 - 0.001) / 10)
