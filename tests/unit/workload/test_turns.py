"""Sessions of traces: pauses told or worked out, and rows together."""

import pytest

from pointsman.workload.rows import Trace, TraceRow
from pointsman.workload.turns import has_sessions, sessions_of, with_pauses


def row(arrival_s: float, session: str = "", output_tokens: int = 51, think_s: float | None = None) -> TraceRow:
    return TraceRow(arrival_s, 100, output_tokens, session=session, think_s=think_s)


def trace(*rows: TraceRow) -> Trace:
    return Trace("t", "mooncake", rows)


def test_what_follows_in_a_session_comes_some_time_after_the_answer():
    paused = with_pauses(
        trace(row(0.0, "a"), row(1.0, "b"), row(10.0, "a"), row(10.5, "a"), row(11.0, "b", think_s=7.0))
    )
    assert [one.think_s for one in paused.rows] == [None, None, pytest.approx(8.0), 0.0, 7.0]


def test_rows_without_a_session_stand_alone():
    rows = (row(0.0), row(1.0, "a"), row(2.0), row(3.0, "a"))
    assert [len(one) for one in sessions_of(rows)] == [1, 2, 1]
    assert with_pauses(trace(row(0.0), row(9.0))).rows[1].think_s is None


def test_only_a_session_of_two_makes_a_trace_one_of_sessions():
    assert not has_sessions(trace(row(0.0, "a"), row(1.0, "b"), row(1.0)))
    assert has_sessions(trace(row(0.0, "a"), row(1.0, "b"), row(1.0, "a")))
