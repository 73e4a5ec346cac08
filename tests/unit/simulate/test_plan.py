"""From settings to experiments."""

from pathlib import Path

import pytest

from pointsman.brain.policies.registry import build
from pointsman.config.flags import ConfigError
from pointsman.config.sim import SimConfig
from pointsman.sim.gateway import Delays
from pointsman.simulate.plan import USUAL_LOAD, Plan, planned


def asked(plan: Plan, number: int = 0) -> int:
    return sum(len(dialogue.asks) for dialogue in plan.demands[number].dialogues)


@pytest.fixture
def trace(tmp_path: Path) -> str:
    """A request a second for a hundred seconds."""
    path = tmp_path / "t.jsonl"
    rows = (f'{{"timestamp": {1000 * k}, "input_length": 600, "output_length": 9}}' for k in range(101))
    path.write_text("\n".join(rows))
    return str(path)


def test_the_load_is_a_share_of_saturation() -> None:
    usual, half = planned(SimConfig(seconds=200.0)), planned(SimConfig(seconds=200.0, load=USUAL_LOAD / 2))
    assert asked(half) == pytest.approx(asked(usual) / 2, rel=0.15)
    assert asked(planned(SimConfig(seconds=200.0, rate=5.0))) == pytest.approx(1000, rel=0.15)


def test_every_seed_has_its_own_demand_equal_for_all_policies() -> None:
    plan = planned(SimConfig(seeds=2, rate=4.0, seconds=30.0))
    assert plan.demands[0] != plan.demands[1]
    one, other = (plan.experiment(build(name), 1) for name in ("round_robin", "jffc"))
    assert one.demand is other.demand
    assert one.seed == 2


def test_a_trace_keeps_its_pace_unless_told_otherwise(trace: str) -> None:
    assert asked(planned(SimConfig(trace=trace, seconds=50.0))) == 50
    assert asked(planned(SimConfig(trace=trace, seconds=50.0, rate_factor=0.5))) == pytest.approx(25, abs=1)
    assert asked(planned(SimConfig(trace=trace, seconds=20.0, rate=4.0))) == pytest.approx(80, abs=1)


def test_a_trace_that_is_over_is_not_waited_for(trace: str) -> None:
    plan = planned(SimConfig(trace=trace, seconds=500.0))
    assert (asked(plan), plan.seconds) == (101, pytest.approx(101.0))
    assert plan.experiment(build("jffc"), 0).window.end_s == plan.seconds


def test_a_trace_of_one_moment_has_no_pace_to_change(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"timestamp": 5, "input_length": 600, "output_length": 9}\n')
    assert asked(planned(SimConfig(trace=str(path)))) == 1
    for pace in ({"rate": 3.0}, {"rate_factor": 2.0}):
        with pytest.raises(ConfigError, match=r"`trace`: .*no rate to scale"):
            planned(SimConfig(trace=str(path), **pace))  # type: ignore[arg-type]


def test_settings_reach_the_experiment() -> None:
    config = SimConfig(rate=4.0, seconds=30.0, plain=0.5, feedback_delay_s=0.1, report_delay_s=1.0, slo_ttft_s=1.0)
    experiment = planned(config).experiment(build("jffc"), 0)
    assert (experiment.habits.plain, experiment.delays, experiment.slo.ttft_s) == (0.5, Delays(0.1, 1.0), 1.0)


def test_a_run_without_requests_is_refused() -> None:
    with pytest.raises(ConfigError, match="`seconds`: no request is sent in"):
        planned(SimConfig(rate=0.001, seconds=1.0))
