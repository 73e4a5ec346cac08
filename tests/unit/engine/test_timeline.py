"""Events happen at their exact moments, however late anybody looks."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.brain.costs.step_time import Linear
from pointsman.engine.core import Core, Limits, StepResult
from pointsman.engine.sequence import Sequence, Status
from pointsman.engine.timeline import Timeline


def make_timeline(log: list[tuple[float, str]], overhead: float = 0.0) -> Timeline:
    core = Core(Limits(blocks=100), Linear(base=0.01, per_sequence=0.0, prefill_tokens_per_second=1e9))

    def deliver(now: float, result: StepResult) -> None:
        log.extend((round(now, 6), sequence.key) for sequence in result.emitted)

    return Timeline(core, deliver, overhead)


def test_a_late_look_finds_the_due_times() -> None:
    log: list[tuple[float, str]] = []
    timeline = make_timeline(log)
    timeline.submit(Sequence("a", 1, 3), 1.0)
    timeline.advance(99.0)
    assert log == [(1.01, "a"), (1.02, "a"), (1.03, "a")]
    assert timeline.next_event() == inf


def test_an_arrival_joins_the_next_step() -> None:
    log: list[tuple[float, str]] = []
    timeline = make_timeline(log)
    timeline.submit(Sequence("a", 1, 3), 0.0)
    timeline.submit(Sequence("b", 1, 1), 0.015)
    timeline.advance(inf)
    assert log == [(0.01, "a"), (0.02, "a"), (0.03, "a"), (0.03, "b")]


def test_overhead_delays_what_the_scheduler_sees() -> None:
    log: list[tuple[float, str]] = []
    timeline = make_timeline(log, overhead=0.5)
    timeline.submit(Sequence("a", 1, 1), 1.0)
    assert timeline.next_event() == 1.5
    timeline.advance(inf)
    assert log == [(1.51, "a")]


def test_an_abort_before_the_scheduler_saw_it() -> None:
    log: list[tuple[float, str]] = []
    timeline = make_timeline(log, overhead=0.5)
    sequence = Sequence("a", 1, 1)
    timeline.submit(sequence, 0.0)
    assert timeline.abort(sequence, 0.1)
    assert not timeline.abort(sequence, 0.2)
    timeline.advance(inf)
    assert log == []
    assert sequence.status is Status.DONE
    assert timeline.core.waiting == 0


@given(
    requests=st.lists(st.tuples(st.floats(0, 0.2), st.integers(1, 40), st.integers(1, 8)), min_size=1, max_size=8),
    looks=st.lists(st.floats(0, 1), max_size=10),
)
def test_when_one_looks_changes_nothing(requests: list[tuple[float, int, int]], looks: list[float]) -> None:
    def play(moments: list[float]) -> list[tuple[float, str]]:
        log: list[tuple[float, str]] = []
        timeline = make_timeline(log)
        events = [(at, 1, str(n)) for n, (at, _, _) in enumerate(requests)] + [(at, 0, "") for at in moments]
        for at, is_arrival, key in sorted(events):
            timeline.advance(at)
            if is_arrival:
                timeline.submit(Sequence(key, *requests[int(key)][1:]), at)
        timeline.advance(inf)
        return log

    assert play(looks) == play([])


def test_time_stands_still_for_an_idle_engine() -> None:
    timeline = make_timeline([])
    timeline.advance(5.0)
    assert timeline.next_event() == inf
    assert timeline.core.totals.steps == pytest.approx(0)
