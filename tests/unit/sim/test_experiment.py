"""Whole runs: repeatable, complete, and with the outcome the demonstration shows over sockets."""

import msgspec
import pytest
from tests.support.simulated import experiment, journaled, quick_nodes, rows_demand, uneven

from pointsman.brain.model.choice import Choice
from pointsman.brain.model.request import Request
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.model.view import View
from pointsman.brain.policies.least_requests import LeastRequests
from pointsman.brain.policies.registry import POLICIES
from pointsman.sim.delays import Delays
from pointsman.sim.demand import Demand
from pointsman.sim.experiment import Run, Stage, run
from pointsman.sim.fleet import nodes_of
from pointsman.sim.generated import session_demand
from pointsman.sim.habits import Habits
from pointsman.sim.incidents import Drain, Failure, Incidents, Slowdown
from pointsman.sim.presets import FLEETS
from pointsman.workload.presets import WORKLOADS


@pytest.mark.parametrize("policy", ["two_choices", "fastest_completion"])
def test_the_same_seed_gives_the_same_bytes(policy: str) -> None:
    first, second = (journaled(uneven(policy, habits=Habits(plain=0.3))) for _ in range(2))
    assert first[1] == second[1]
    assert msgspec.json.encode(first[0]) == msgspec.json.encode(second[0])


def test_so_it_does_with_everything_that_can_happen() -> None:
    def told() -> bytes:
        demand = session_demand(3, 20.0, 20.0, 32_768, WORKLOADS["batch_and_chat"] + WORKLOADS["tenants"])
        incidents = Incidents(
            (Slowdown(node="slow-1", factor=3.0, begins_s=2.0, ends_s=9.0),),
            (
                Failure(node="fast-1", begins_s=5.0, ends_s=10.0),
                Failure(node="slow-2", mode="stop", begins_s=6.0, ends_s=12.0),
            ),
            (Drain(node="fast-2", begins_s=11.0, ends_s=14.0),),
        )
        what = experiment(
            "fastest_completion",
            demand,
            nodes_of(FLEETS["uneven"]),
            incidents=incidents,
            habits=Habits(plain=0.2, leaving=0.2, leaving_after_s=3.0),
            delays=Delays(0.1, 0.5),
            gateways=3,
            sharing_s=0.1,
        )
        return msgspec.json.encode(run(what, lambda _second: None))

    assert told() == told()


def test_another_seed_draws_otherwise() -> None:
    assert journaled(uneven("two_choices"))[1] != journaled(uneven("two_choices", seed=2))[1]


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_every_request_ends_once_and_no_account_is_left(policy: str) -> None:
    """Overload, delays, plain answers and a short queue: the hardest that a run can be."""
    what = uneven(
        policy,
        rate=40.0,
        seconds=6.0,
        habits=Habits(plain=0.3),
        delays=Delays(0.1, 0.5),
        settings=BrainSettings(queue_timeout_s=5.0, queue_limit=40, first_token_floor_s=8.0),
    )
    stage = Stage(what, lambda _second: None, None)
    result = stage.run()
    ids = [record.id for record in result.records]
    assert len(ids) == len(set(ids))
    assert sum(record.id.endswith("-0") for record in result.records) == len(what.demand.dialogues)
    assert stage.dispatchers[0].at_rest()
    for column in ("outstanding", "running", "backlog_tokens", "context_tokens", "kv_reserved"):
        assert not getattr(stage.dispatchers[0].fleet.columns, column).any(), f"{column} is not zero at rest"
    for node in stage.cluster.nodes.values():
        report = node.report(0.0)
        assert (report.running, report.waiting, report.kv_usage) == (0, 0, 0.0)


def outcome(policy: str) -> Run:
    return run(uneven(policy, rate=18.0, seconds=60.0, warm_up=0.25), lambda _second: None)


def test_policies_rank_on_an_uneven_fleet_as_in_the_demonstration() -> None:
    blind, jffc, ours = (outcome(name).summary for name in ("round_robin", "jffc", "fastest_completion"))
    assert blind.success == jffc.success == ours.success == 1.0
    assert blind.ttft_mean_s > 4 * jffc.ttft_mean_s > 0  # type: ignore[operator]
    assert jffc.ttft_mean_s >= 0.95 * ours.ttft_mean_s  # type: ignore[operator]
    assert blind.goodput_rps < 0.6 * ours.goodput_rps
    assert blind.hit_ratio < jffc.hit_ratio  # type: ignore[operator]


def test_a_node_that_degrades_gets_less_from_whoever_notices() -> None:
    fault = Incidents((Slowdown(node="fast-2", factor=4.0, begins_s=15.0, ends_s=40.0),))

    def share(policy: str) -> float:
        result = run(uneven(policy, seconds=45.0, rate=10.0, incidents=fault), lambda _second: None)
        during = [record.node for record in result.records if 20.0 <= record.sent_s < 40.0]
        return during.count("fast-2") / len(during)

    assert share("round_robin") == pytest.approx(0.25, abs=0.02)
    assert share("fastest_completion") < 0.2


def test_a_slowdown_lowers_what_a_fair_share_is() -> None:
    fault = Incidents((Slowdown(node="fast-2", factor=4.0, begins_s=10.0, ends_s=90.0),))
    fast, degraded, *_ = uneven("round_robin", seconds=50.0, incidents=fault).capacity().values()
    assert degraded == pytest.approx(fast * (1 - 0.8 * 0.75))


def test_nodes_have_joined_and_started_slowly_before_the_first_request() -> None:
    what = experiment("round_robin", rows_demand((0.0, 100, 2), (0.0, 100, 2)), quick_nodes(2))
    assert {record.node for record in run(what, lambda _second: None).records} == {"n-1", "n-2"}


def test_the_caller_is_told_how_far_it_is() -> None:
    seconds: list[float] = []
    run(
        experiment("round_robin", rows_demand((0.0, 100, 2), (9.0, 100, 2)), quick_nodes(), seconds=10.0),
        seconds.append,
    )
    assert seconds[0] == 0.0
    assert seconds == sorted(seconds)
    assert seconds[-1] >= 8.9


def test_busy_is_the_share_of_the_window_in_steps() -> None:
    what = experiment("round_robin", rows_demand((5.0, 1000, 101)), quick_nodes(1), seconds=10.0, warm_up=0.0)
    assert run(what, lambda _second: None).nodes[0].busy == pytest.approx((0.11 + 1.0) / 10)


class Broken(LeastRequests):
    """Looks at a column that no view has."""

    def choose(self, request: Request, view: View) -> Choice:
        return Choice(0, view.no_such_column)  # type: ignore[attr-defined]


def test_a_policy_that_raises_ends_the_run() -> None:
    what = msgspec.structs.replace(uneven("least_requests"), policy=Broken())
    with pytest.raises(AttributeError, match="no_such_column") as raised:
        run(what, lambda _second: None)
    assert raised.value.__notes__ == ["The policy least_requests raised this in `choose`."]


def test_nothing_to_send_is_refused() -> None:
    with pytest.raises(ValueError, match="no request"):
        run(experiment("round_robin", Demand((), "nothing"), quick_nodes()), lambda _second: None)
