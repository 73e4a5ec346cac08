import pytest

from pointsman.workload.jitter import jittered
from pointsman.workload.rows import Trace, TraceRow

TRACE = Trace("t", "recording", tuple(TraceRow(float(second), second + 1, 1) for second in range(100)))


def test_requests_move_by_no_more_than_asked() -> None:
    moved = jittered(TRACE, 2.0, 1)
    assert [row.arrival_s for row in moved.rows] == sorted(row.arrival_s for row in moved.rows)
    moves = [row.arrival_s - (row.prompt_tokens - 1) for row in moved.rows]
    assert -2.0 <= min(moves) < -1.0
    assert 1.0 < max(moves) <= 2.0


def test_each_seed_moves_otherwise_and_always_alike() -> None:
    assert jittered(TRACE, 2.0, 1) == jittered(TRACE, 2.0, 1) != jittered(TRACE, 2.0, 2)
    assert jittered(TRACE, 0.0, 1) is TRACE


def test_a_session_moves_as_a_whole() -> None:
    trace = Trace("t", "recording", tuple(TraceRow(100.0 + second, 1, 1, session="a") for second in range(3)))
    first, second, third = (row.arrival_s for row in jittered(trace, 5.0, 1).rows)
    assert (second - first, third - second) == pytest.approx((1.0, 1.0))


def test_nothing_comes_before_the_beginning() -> None:
    assert min(row.arrival_s for row in jittered(TRACE, 50.0, 3).rows) == 0.0
