"""Many steps at a time: what is told when. That it is as step by step, tests/properties/test_macro_steps.py shows."""

from math import inf

import pytest

from pointsman.brain.costs.step_time import Linear
from pointsman.engine.core import Limits, StepResult
from pointsman.engine.macro import MacroTimeline
from pointsman.engine.sequence import Sequence, Status

Log = list[tuple[float, str, str]]


def make(log: Log, overhead: float = 0.0, **limits: int | bool) -> MacroTimeline:
    """Steps of 10 ms, and a prompt token takes 0.1 ms."""

    def deliver(now: float, result: StepResult) -> None:
        log.extend((round(now, 6), "first", sequence.key) for sequence in result.emitted)
        log.extend((round(now, 6), "end", sequence.key) for sequence in result.finished)

    known = Limits(**{"blocks": 100, "block_size": 4, **limits})  # type: ignore[arg-type]
    return MacroTimeline(known, Linear(0.01, 0.0, 10_000), 1.0, deliver, overhead)


def test_first_tokens_and_ends_are_told_and_nothing_else() -> None:
    log: Log = []
    timeline = make(log)
    sequence = Sequence("a", 100, 51)
    timeline.submit(sequence, 1.0)
    assert timeline.next_event() == 1.0
    moments = []
    while (due := timeline.next_event()) < inf:
        moments.append(round(due, 6))
        timeline.advance(due)
    assert log == [(1.02, "first", "a"), (1.52, "end", "a")]
    assert moments == [1.0, 1.02, 1.52]
    assert (sequence.generated, sequence.status, sequence.finished_at) == (51, Status.DONE, pytest.approx(1.52))


def test_an_arrival_cuts_a_stretch_at_the_end_of_the_step_in_progress() -> None:
    log: Log = []
    timeline = make(log)
    timeline.submit(Sequence("a", 100, 51), 0.0)
    timeline.advance(0.2)
    timeline.submit(Sequence("b", 50, 1), 0.203)
    assert timeline.next_event() == pytest.approx(0.21)
    timeline.advance(inf)
    assert log == [(0.02, "first", "a"), (0.225, "first", "b"), (0.225, "end", "b"), (0.525, "end", "a")]


def test_who_stands_behind_others_cuts_nothing() -> None:
    timeline = make([], max_num_seqs=1)
    timeline.submit(Sequence("a", 100, 51), 0.0)
    timeline.advance(0.2)
    timeline.submit(Sequence("b", 50, 1), 0.203)
    assert timeline.next_event() == pytest.approx(0.52)


def test_what_is_asked_inside_a_stretch_is_as_of_then() -> None:
    timeline = make([])
    timeline.submit(Sequence("a", 4, 90), 0.0)
    timeline.submit(Sequence("b", 4, 90), 0.0)
    for moment, blocks in ((0.005, 2), (0.015, 4), (0.055, 6)):
        running, waiting, kv_usage = timeline.load(moment)
        assert (running, waiting, kv_usage) == (2, 0, pytest.approx(blocks / 100))
    totals = timeline.totals(0.0559)
    assert (totals.steps, totals.generated_tokens) == (6, 10)
    assert totals.busy_seconds == pytest.approx(0.0608)


def test_an_abort_inside_a_stretch_frees_its_blocks_and_leaves_the_step_as_long() -> None:
    log: Log = []
    timeline = make(log)
    one, other = Sequence("a", 100, 51), Sequence("b", 100, 51)
    for sequence in (one, other):
        timeline.submit(sequence, 0.0)
    assert timeline.abort(one, 0.105)
    assert one.generated == 8, "the first at 30 ms, the last at 100 ms"
    assert timeline.load(0.105)[2] == pytest.approx(27 / 100)
    assert not timeline.abort(one, 0.2)
    timeline.advance(inf)
    assert log == [(0.03, "first", "a"), (0.03, "first", "b"), (0.53, "end", "b")]
    assert timeline.pool.free == 100


def test_slower_steps_begin_after_the_one_in_progress() -> None:
    log: Log = []
    timeline = make(log)
    timeline.submit(Sequence("a", 100, 11), 0.0)
    timeline.slow_down(2.0, 0.075)
    timeline.advance(inf)
    assert log[-1] == (0.16, "end", "a")


def test_what_can_never_fit_is_refused() -> None:
    timeline = make([], blocks=2)
    with pytest.raises(ValueError, match="exceed the KV cache of 8"):
        timeline.submit(Sequence("never", 5, 5), 0.0)
    assert timeline.next_event() == inf


def test_an_idle_engine_waits_for_nothing() -> None:
    timeline = make([])
    assert timeline.next_event() == inf
    timeline.advance(inf)
    assert timeline.load(5.0) == (0, 0, 0.0)
