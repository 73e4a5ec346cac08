"""What happens to nodes: what requests come to, what the gateway notices, and what is left of a node."""

import pytest
from tests.support.simulated import calls, experiment, journaled, quick_nodes, rows_demand, uneven

from pointsman.observe.calls import Finished, Report
from pointsman.sim.experiment import Run, Stage
from pointsman.sim.incidents import LEAST_CAPACITY, Drain, Failure, Incidents, Slowdown, problem_of, told
from pointsman.sim.record import Record

KILLED = Incidents(failures=(Failure(node="n-1", begins_s=5.0, ends_s=30.0),))
STOPPED = Incidents(failures=(Failure(node="n", mode="stop", begins_s=5.0, ends_s=8.0),))
STOPPED_LONG = Incidents(failures=(Failure(node="n-1", mode="stop", begins_s=5.0),))


def by_id(result: Run) -> dict[str, Record]:
    return {record.id: record for record in result.records}


def test_a_node_that_dies_breaks_what_it_had_begun_and_the_rest_goes_elsewhere() -> None:
    demand = rows_demand((4.0, 100, 500), (4.9, 9000, 50), (6.0, 100, 50))
    result, lines = journaled(experiment("round_robin", demand, quick_nodes(2), incidents=KILLED))
    records = by_id(result)
    begun = next(record for record in result.records if record.node == "n-1")
    assert (begun.problem, begun.ok, begun.done_s) == ("reset", False, 5.0)
    assert begun.first_s is not None
    assert sum(record.ok for record in result.records) == 2
    assert all(record.node == "n-2" for record in result.records if record.ok)
    assert max(record.tries for record in records.values()) == 2
    reasons = [call.outcome.reason for call in calls(lines) if isinstance(call, Finished)]
    assert reasons.count("reset") == 1
    assert reasons.count("refused") == 1


def test_probes_of_a_dead_node_are_refused_and_it_comes_back_as_another_process() -> None:
    demand = rows_demand((4.0, 100, 9000), (4.1, 100, 9000))
    _, lines = journaled(experiment("round_robin", demand, quick_nodes(2), incidents=KILLED))
    reports = [call for call in calls(lines) if isinstance(call, Report) and call.report.node == "n-1"]
    dead = [call.report.reason for call in reports if 5.0 < call.now < 30.0]
    assert dead
    assert set(dead) == {"refused"}
    started = {call.report.started_at for call in reports if call.report.ok}
    assert 30.0 in started
    assert len(started) == 2


def test_a_node_comes_back_empty() -> None:
    stage = Stage(uneven("round_robin", incidents=_of("fast-1", "kill", 8.0, 8.0001)), lambda _second: None, None)
    result = stage.run()
    node = stage.cluster.nodes["fast-1"]
    counted = node.counters()
    assert counted.requests == sum(record.node == "fast-1" for record in result.records)
    assert counted.generated_tokens >= sum(r.output_tokens for r in result.records if r.node == "fast-1")
    report = node.report(0.0)
    assert (report.running, report.waiting, report.kv_usage) == (0, 0, 0.0)


def _of(node: str, mode: str, begins_s: float, ends_s: float | None) -> Incidents:
    return Incidents(failures=(Failure(node=node, mode=mode, begins_s=begins_s, ends_s=ends_s),))  # type: ignore[arg-type]


def test_a_node_that_stands_still_goes_on_where_it_stood() -> None:
    demand = rows_demand((4.0, 1000, 101), (6.0, 1000, 1))
    (long, short), lines = _ran(demand, STOPPED, nodes=1)
    assert long.done_s == pytest.approx(4.0 + 0.11 + 1.0 + 3.0 + 0.1), (
        "one of its steps is shared with the other's prompt"
    )
    assert short.first_s == pytest.approx(8.11, abs=0.02)
    late = [call.report for call in calls(lines) if isinstance(call, Report) and 5.0 <= call.now < 9.0]
    assert all(report.ok for report in late)


def test_streams_from_a_node_that_stays_silent_are_given_up_after_a_minute() -> None:
    demand = rows_demand((4.0, 100, 500), (4.1, 100, 500))
    (on_first, on_second), _ = _ran(demand, STOPPED_LONG, nodes=2)
    assert on_second.ok
    assert (on_first.problem, on_first.done_s) == ("token_timeout", 65.0)


def test_what_a_silent_node_never_began_is_answered_elsewhere() -> None:
    demand = rows_demand((5.5, 100, 20), (5.6, 100, 20), (5.7, 100, 20))
    records, lines = _ran(demand, STOPPED_LONG, nodes=2)
    assert all(record.ok and record.node == "n-2" for record in records)
    assert max(record.tries for record in records) == 2
    failed = [call.report for call in calls(lines) if isinstance(call, Report) and not call.report.ok]
    assert failed
    assert {(report.reason, report.seconds) for report in failed} == {("timeout", 5.0)}


def _ran(demand: object, incidents: Incidents, nodes: int, **more: object) -> tuple[list[Record], list[bytes]]:
    what = experiment("round_robin", demand, quick_nodes(nodes), incidents=incidents, **more)  # type: ignore[arg-type]
    result, lines = journaled(what)
    return sorted(result.records, key=lambda record: record.sent_s), lines


def test_a_drained_node_finishes_what_it_has_and_gets_nothing_until_the_end() -> None:
    demand = rows_demand(*((float(second), 100, 150) for second in range(18)))
    records, _ = _ran(demand, Incidents(drains=(Drain(node="n-1", begins_s=5.5, ends_s=12.5),)), nodes=2)
    assert all(record.ok for record in records)
    assert {record.node for record in records if 5.5 < record.sent_s < 12.5} == {"n-2"}
    assert {record.node for record in records if record.sent_s > 12.5} == {"n-1", "n-2"}


def ends(lines: list[bytes]) -> list[Finished]:
    """How leases ended that were not simply through."""
    return [call for call in calls(lines) if isinstance(call, Finished) and call.outcome.verdict != "ok"]


def test_a_stream_that_loses_its_node_goes_on_elsewhere_behind_what_was_delivered() -> None:
    demand = rows_demand((4.0, 100, 500), (4.1, 100, 10))
    (record, _), lines = _ran(demand, KILLED, nodes=2, resume=True)
    assert (record.ok, record.node, record.tries, record.interruptions) == (True, "n-2", 2, 1)
    assert (record.prompt_tokens, record.output_tokens) == (100, 500)
    assert record.first_s == pytest.approx(4.02), "its first token stays the first one that its client saw"
    (lost,) = (call.outcome for call in ends(lines))
    assert (lost.reason, lost.resumable, lost.new_tokens) == ("reset", True, 99)
    recomputed_s = (100 + 99) / 10_000 + 0.01
    assert record.done_s == pytest.approx(5.0 + recomputed_s + 400 * 0.01)
    assert record.gap_s == pytest.approx(recomputed_s, abs=0.011)
    whole = [call.outcome for call in calls(lines) if isinstance(call, Finished) and call.outcome.verdict == "ok"][-1]
    assert (whole.prompt_tokens, whole.completion_tokens) == (100, 500)


def test_a_stream_on_a_node_that_falls_silent_goes_on_as_soon_as_probes_say_that_it_is_down() -> None:
    (record, _), _ = _ran(rows_demand((4.0, 100, 500), (4.1, 100, 500)), STOPPED_LONG, nodes=2, resume=True)
    assert (record.ok, record.interruptions, record.output_tokens) == (True, 1, 500)
    assert record.gap_s == pytest.approx(22.03, abs=0.02), "the next probe and two more take so long to fail"


def test_a_node_that_is_drained_within_a_limit_is_emptied_then() -> None:
    drained = Incidents(drains=(Drain(node="n-1", begins_s=5.0, within_s=1.0),))
    (record, other), lines = _ran(rows_demand((4.0, 100, 500), (4.1, 100, 500)), drained, nodes=2, resume=True)
    assert (record.ok, record.interruptions, record.node, other.interruptions) == (True, 1, "n-2", 0)
    (end,) = ends(lines)
    assert (end.now, end.outcome.verdict, end.outcome.reason) == (6.0, "interrupted", "drain")


def test_without_resume_such_a_stream_ends_with_its_part() -> None:
    drained = Incidents(drains=(Drain(node="n-1", begins_s=5.0, within_s=1.0),))
    (record, _), _ = _ran(rows_demand((4.0, 100, 500), (4.1, 100, 500)), drained, nodes=2)
    assert (record.ok, record.problem, record.done_s, record.interruptions) == (False, "drain", 6.0, 0)


def test_a_stream_that_was_interrupted_three_times_is_lost_with_its_next_node() -> None:
    order = ("n-1", "n-3", "n-5", "n-4")
    failures = tuple(Failure(node=node, begins_s=5.0 + second) for second, node in enumerate(order))
    (record,), lines = _ran(rows_demand((4.0, 100, 900)), Incidents(failures=failures), nodes=5, resume=True)
    assert (record.ok, record.problem, record.interruptions, record.tries) == (False, "reset", 3, 4)
    assert record.output_tokens == sum(end.outcome.new_tokens for end in ends(lines))


@pytest.mark.parametrize("policy", ["round_robin", "fastest_completion"])
@pytest.mark.parametrize("mode", ["kill", "stop"])
def test_nothing_is_left_open_when_nodes_fail_in_turn(policy: str, mode: str) -> None:
    failures = tuple(
        Failure(node=node, mode=mode, begins_s=at, ends_s=at + 4.0)  # type: ignore[arg-type]
        for node, at in (("slow-1", 9.0), ("fast-1", 3.0), ("fast-2", 5.0), ("fast-1", 7.0))
    )
    what = uneven(policy, rate=15.0, seconds=15.0, incidents=Incidents(failures=failures))
    stage = Stage(what, lambda _second: None, None)
    result = stage.run()
    ids = [record.id for record in result.records]
    assert len(ids) == len(set(ids))
    assert sum(one.endswith("-0") for one in ids) == len(what.demand.dialogues)
    assert stage.dispatchers[0].at_rest()
    assert not stage.dispatchers[0].fleet.columns.outstanding.any()


def test_what_is_left_of_a_node_is_what_it_could_do() -> None:
    incidents = Incidents(
        (Slowdown(node="a", factor=2.0, begins_s=0.0, ends_s=50.0),),
        (Failure(node="a", begins_s=80.0), Failure(node="b", begins_s=0.0)),
        (Drain(node="c", begins_s=90.0, ends_s=200.0),),
    )
    assert [incidents.left(node, 100.0) for node in "abcd"] == pytest.approx([0.55, LEAST_CAPACITY, 0.9, 1.0])


def test_problems_are_told_by_place_and_field() -> None:
    never = Failure(node="a", begins_s=1.0)
    assert problem_of([never], ["a"]) is None
    assert problem_of([never, Failure(node="b", begins_s=0.0)], ["a"]) == (1, "node", "no node named 'b'; there are: a")
    overlapping = problem_of([never, Failure(node="a", begins_s=9.0, ends_s=10.0)], ["a"])
    assert overlapping is not None
    assert overlapping[:2] == (1, "begins_s")


def test_what_happens_is_told_in_a_sentence() -> None:
    assert [told(one) for one in (*KILLED.all(), *STOPPED_LONG.all())] == [
        "n-1 is dead from 5 s to 30 s.",
        "n-1 stands still from 5 s on.",
    ]
    assert told(Drain(node="a", begins_s=1.0, ends_s=2.0)) == "a is drained from 1 s to 2 s."
    assert told(Slowdown(node="a", factor=3.0, begins_s=1.0, ends_s=2.0)) == "a is 3 times slower from 1 s to 2 s."
