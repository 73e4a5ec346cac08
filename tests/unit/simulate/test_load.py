"""From settings to the demand: at a share of saturation, at a trace's pace, or generated with a trace's gaps."""

from pathlib import Path

import numpy as np
import pytest

from pointsman.config.flags import ConfigError
from pointsman.config.sim import SimConfig, fleet_of
from pointsman.sim.fleet import NodeKind
from pointsman.simulate.load import USUAL_LOAD, Load, loaded


def of(config: SimConfig) -> Load:
    return loaded(config, fleet_of(config))


def asked(load: Load, number: int = 0) -> int:
    return sum(len(dialogue.asks) for dialogue in load.demands[number].dialogues)


@pytest.fixture
def trace(tmp_path: Path) -> str:
    """A request a second for a hundred seconds."""
    path = tmp_path / "t.jsonl"
    rows = (f'{{"timestamp": {1000 * k}, "input_length": 600, "output_length": 9}}' for k in range(101))
    path.write_text("\n".join(rows))
    return str(path)


def test_the_load_is_a_share_of_saturation() -> None:
    usual, half = of(SimConfig(seconds=200.0)), of(SimConfig(seconds=200.0, load=USUAL_LOAD / 2))
    assert asked(half) == pytest.approx(asked(usual) / 2, rel=0.15)
    assert asked(of(SimConfig(seconds=200.0, rate=5.0))) == pytest.approx(1000, rel=0.15)


def test_a_trace_keeps_its_pace_unless_told_otherwise(trace: str) -> None:
    assert asked(of(SimConfig(trace=trace, seconds=50.0))) == 50
    assert asked(of(SimConfig(trace=trace, seconds=50.0, rate_factor=0.5))) == pytest.approx(25, abs=1)
    assert asked(of(SimConfig(trace=trace, seconds=20.0, rate=4.0))) == pytest.approx(80, abs=1)


def test_a_trace_that_is_over_is_not_waited_for(trace: str) -> None:
    load = of(SimConfig(trace=trace, seconds=500.0))
    assert (asked(load), load.seconds) == (101, pytest.approx(101.0))


def test_a_trace_of_one_moment_has_no_pace_to_change(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"timestamp": 5, "input_length": 600, "output_length": 9}\n')
    assert asked(of(SimConfig(trace=str(path)))) == 1
    for pace in ({"rate": 3.0}, {"rate_factor": 2.0}):
        with pytest.raises(ConfigError, match=r"`trace`: .*no rate to scale"):
            of(SimConfig(trace=str(path), **pace))  # type: ignore[arg-type]


def test_a_run_without_requests_is_refused() -> None:
    with pytest.raises(ConfigError, match="`seconds`: no request is sent in"):
        of(SimConfig(rate=0.001, seconds=1.0))


def test_a_trace_can_lend_its_gaps_to_generated_dialogues(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    stamps = [0, 1000, 2000, 50_000]
    path.write_text("\n".join(f'{{"timestamp": {at}, "input_length": 600, "output_length": 9}}' for at in stamps))
    config = SimConfig(trace=str(path), arrivals="trace", workload="chat", rate=4.0, seconds=200.0)
    load = of(config)
    starts = [dialogue.start_s for dialogue in load.demands[0].dialogues]
    assert len(starts) == pytest.approx(200.0, rel=0.15)
    gaps = np.round(np.diff(starts), 6)
    assert len(set(gaps.tolist())) <= 4
    assert asked(load) == pytest.approx(800, rel=0.2)
    path.write_text('{"timestamp": 5, "input_length": 600, "output_length": 9}')
    with pytest.raises(ConfigError, match=r"`trace`: t\.jsonl: 1 requests at one instant have no gaps"):
        of(config)


def test_nodes_serve_what_is_asked_for() -> None:
    load = of(SimConfig(workload="adapters", rate=4.0, seconds=30.0))
    asked_for = {dialogue.model for dialogue in load.demands[0].dialogues}
    assert len(asked_for) > 3
    assert all(asked_for <= set(node.spec.models) for node in load.nodes)


def test_clients_whom_no_engine_could_serve_are_refused() -> None:
    with pytest.raises(ConfigError, match="`workload`: all its requests exceed the engines' limit of 32"):
        of(SimConfig(workload="assistant", fleet="uneven", node=(_small(),)))


def _small() -> NodeKind:
    return NodeKind(name="small", max_model_len=32)
