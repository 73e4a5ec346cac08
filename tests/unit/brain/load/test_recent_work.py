from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.brain.load.recent_work import RecentWork


def make(rows: int = 2, window_s: float = 180.0, parts: int = 12) -> tuple[RecentWork, "array[float]"]:
    out = array("d", bytes(8 * rows))
    work = RecentWork(out, window_s, parts)
    work.refresh(0.0, rows)
    return work, out


def test_work_counts_at_once_and_for_as_long_as_the_window() -> None:
    work, out = make()
    work.add(0, 3.0)
    work.add(1, 1.0)
    work.add(0, 0.5)
    assert list(out) == [3.5, 1.0]
    work.refresh(164.9, 2)
    assert list(out) == [3.5, 1.0]
    work.refresh(180.0, 2)
    assert list(out) == [0.0, 0.0]


def test_old_work_goes_while_new_work_stays() -> None:
    work, out = make()
    work.add(0, 3.0)
    work.refresh(100.0, 2)
    work.add(0, 5.0)
    work.refresh(181.0, 2)
    assert out[0] == 5.0
    work.refresh(290.0, 2)
    assert out[0] == 0.0


def test_after_a_long_silence_nothing_is_left() -> None:
    work, out = make()
    work.add(0, 3.0)
    work.refresh(1e6, 2)
    assert out[0] == 0.0
    work.add(0, 2.0)
    work.refresh(1e6 + 100.0, 2)
    assert out[0] == 2.0


def test_a_new_node_on_the_row_begins_with_nothing() -> None:
    work, out = make()
    work.add(0, 3.0)
    work.add(1, 1.0)
    work.refresh(20.0, 2)
    work.add(0, 3.0)
    work.start(0)
    assert list(out) == [0.0, 1.0]
    work.refresh(40.0, 2)
    assert list(out) == [0.0, 1.0]


def test_sums_come_out_at_exactly_nothing() -> None:
    work, out = make(1)
    for step in range(1000):
        work.add(0, 0.1 * step)
        work.refresh(step * 0.3, 1)
    work.refresh(1000.0, 1)
    assert out[0] == 0.0


@given(st.lists(st.tuples(st.floats(0.0, 40.0), st.floats(0.0, 10.0)), max_size=40))
def test_within_one_part_of_the_true_window(steps: list[tuple[float, float]]) -> None:
    work, out = make(1, window_s=60.0, parts=6)
    now, sent = 0.0, []
    for gap, seconds in steps:
        now += gap
        work.refresh(now, 1)
        work.add(0, seconds)
        sent.append((now, seconds))
        least = sum(seconds for at, seconds in sent if now - at < 50.0)
        most = sum(seconds for at, seconds in sent if now - at <= 60.0)
        assert least - 1e-6 <= out[0] <= most + 1e-6


@pytest.mark.parametrize(("window_s", "parts"), [(0.0, 12), (-1.0, 12), (10.0, 1)])
def test_window_and_parts_are_checked(window_s: float, parts: int) -> None:
    with pytest.raises(ValueError, match="window_s must be above 0 and parts at least 2"):
        RecentWork(array("d", [0.0]), window_s, parts)
