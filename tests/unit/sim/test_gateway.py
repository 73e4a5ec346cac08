"""The simulated gateway: which calls it makes, when, and what becomes of tries that fail."""

import pytest
from tests.support.simulated import calls, experiment, journaled, quick_nodes, rows_demand

from pointsman.brain.model.settings import BrainSettings
from pointsman.gateway.settings import Timeouts
from pointsman.observe.calls import Finished, FirstToken, Report, Submit, Tokens
from pointsman.sim.delays import Delays
from pointsman.sim.experiment import Stage
from pointsman.sim.gateway import PROBE_S, SILENCE_S
from pointsman.sim.habits import Habits

ONE = rows_demand((1.0, 1000, 34))


def about(lines: list[bytes]) -> list[tuple[str, float]]:
    """Calls about the request, with their seconds."""
    kinds = (Submit, FirstToken, Tokens, Finished)
    return [(type(call).__name__, call.now) for call in calls(lines) if isinstance(call, kinds)]


def test_a_stream_is_told_as_the_gateway_sees_it() -> None:
    _, lines = journaled(experiment("round_robin", ONE, quick_nodes()))
    assert about(lines) == [
        ("Submit", 1.0),
        ("FirstToken", pytest.approx(1.11)),
        ("Tokens", pytest.approx(1.27)),
        ("Tokens", pytest.approx(1.43)),
        ("Finished", pytest.approx(1.44)),
    ]
    (end,) = (call for call in calls(lines) if isinstance(call, Finished))
    assert (end.outcome.prompt_tokens, end.outcome.completion_tokens, end.outcome.cached_tokens) == (1000, 34, 0)


def test_of_a_plain_answer_only_the_end_is_seen() -> None:
    run, lines = journaled(experiment("round_robin", ONE, quick_nodes(), habits=Habits(plain=1.0)))
    assert [name for name, _ in about(lines)] == ["Submit", "Finished"]
    (record,) = run.records
    assert (record.first_s, record.done_s) == (None, pytest.approx(1.44))


def test_what_is_seen_late_is_told_late_and_the_client_is_answered_in_time() -> None:
    run, lines = journaled(experiment("round_robin", ONE, quick_nodes(), delays=Delays(feedback_s=1.0)))
    assert about(lines)[1] == ("FirstToken", pytest.approx(2.11))
    assert about(lines)[-1] == ("Finished", pytest.approx(2.44))
    assert run.records[0].done_s == pytest.approx(1.44)


def test_a_probe_tells_what_was_when_it_was_asked() -> None:
    busy = rows_demand((5.0, 4000, 1200), (5.0, 4000, 1200))
    for delay in (0.0, 2.5):
        _, lines = journaled(experiment("round_robin", busy, quick_nodes(), delays=Delays(report_s=delay)))
        reports = [call for call in calls(lines) if isinstance(call, Report) and call.report.running]
        assert reports
        begun = {round(call.now - delay, 6) for call in reports}
        assert all(5.0 <= moment <= 17.5 for moment in begun)
        assert all(call.report.seconds == delay for call in reports)


def test_a_stream_without_a_first_token_is_given_up_and_tried_elsewhere() -> None:
    """The first node gets a prompt that takes it longer than the patience for those behind."""
    settings = BrainSettings(first_token_floor_s=0.3, first_token_ceiling_s=0.3)
    demand = rows_demand((0.0, 6000, 2), (0.1, 100, 2))
    run, lines = journaled(experiment("round_robin", demand, quick_nodes(), settings=settings))
    long, short = sorted(run.records, key=lambda record: -record.prompt_tokens)
    assert short.ok
    assert (long.ok, long.tries, long.problem) == (False, 2, "node_timeout")
    failed = [call for call in calls(lines) if isinstance(call, Finished) and call.outcome.verdict == "fail"]
    assert [(call.outcome.reason, call.outcome.status) for call in failed] == [("first_token_timeout", 504)] * 2
    assert not any(call.outcome.delivered for call in failed)


def test_what_finds_no_room_waits_and_is_refused_in_time() -> None:
    demand = rows_demand(*((0.0, 100, 300),) * 3)

    def problems(*, declare: bool) -> list[str]:
        nodes = quick_nodes(1, declare=declare, max_num_seqs=1)
        run, _ = journaled(experiment("round_robin", demand, nodes, settings=BrainSettings(queue_timeout_s=1.0)))
        return sorted(record.problem for record in run.records)

    assert problems(declare=False) == ["", "", ""], "where slots are unknown, the engine queues"
    assert problems(declare=True) == ["", "queue_timeout", "queue_timeout"]


def test_an_aborted_lease_ends_a_stream_that_has_begun() -> None:
    settings = BrainSettings(lease_s=30.0)
    demand = rows_demand((0.0, 100, 20_000))
    run, _ = journaled(experiment("round_robin", demand, quick_nodes(1), settings=settings))
    (record,) = run.records
    assert (record.ok, record.problem) == (False, "lease_expired")
    assert record.first_s is not None
    assert record.done_s < 100


def test_its_patience_is_the_gateway_s() -> None:
    usual = Timeouts()
    assert (usual.probe_s, usual.between_tokens_s) == (PROBE_S, SILENCE_S)


def test_a_client_that_leaves_frees_its_node_at_once() -> None:
    habits = Habits(leaving=1.0, leaving_after_s=0.001)
    demand = rows_demand((1.0, 1000, 2000), (4.0, 1000, 2000))
    run, lines = journaled(experiment("round_robin", demand, quick_nodes(1), habits=habits))
    assert [record.problem for record in run.records] == ["client_left", "client_left"]
    assert max(record.done_s for record in run.records) < 4.1
    ends = [call for call in calls(lines) if type(call).__name__ == "Cancel"]
    assert len(ends) == 2
    assert run.summary.requests == 0, "who leaves before being late says nothing of the policy"


def test_a_client_that_leaves_while_it_waits_leaves_the_queue() -> None:
    habits = Habits(leaving=1.0, leaving_after_s=0.5)
    nodes = quick_nodes(1, declare=True, max_num_seqs=1)
    demand = rows_demand(*((1.0, 100, 1000),) * 8)
    stage = Stage(experiment("round_robin", demand, nodes, habits=habits), lambda _second: None, None)
    records = stage.run().records
    assert len(records) == 8
    assert any(record.tries == 0 for record in records)
    assert stage.dispatchers[0].at_rest()
