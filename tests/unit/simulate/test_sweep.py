"""Policies against load, on runs that nobody makes: which ones are asked for, and what they are taken to say."""

from collections.abc import Sequence

import pytest
from tests.support.measured import measured

from pointsman.config.sweep import SweepConfig
from pointsman.simulate.cases import Case, Measured
from pointsman.simulate.sweep import Scene, saturation_rps, scenes_of, sweep

EDGES = {"weak": 4.0, "strong": 8.0}
"""Requests per second up to which each keeps the objective; beyond, it loses a tenth with each further request."""
CONFIG = SweepConfig(policies=("weak", "strong"), loads=(0.5, 1.0), seeds=2, refine=3)


class Lab:
    """Answers cases without running them."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def measure(self, cases: Sequence[Case]) -> list[Measured]:
        self.batches.append([case.name for case in cases])
        return [self._answer(case) for case in cases]

    def _answer(self, case: Case) -> Measured:
        rate = case.config.rate or 10 * (case.config.rate_factor or 1.0)
        lost = max(0.0, rate - EDGES.get(case.policy, 5.0)) / 10
        return measured(case.policy, case.config.seed, in_slo=1 - lost, throughput_rps=min(rate, 5.0))


def test_the_grid_is_run_in_one_go_and_then_the_search() -> None:
    lab = Lab()
    swept = sweep(Scene("here", CONFIG, 10.0), lab.measure)
    assert len(lab.batches) == 1 + CONFIG.refine
    assert lab.batches[0] == [
        f"{name}, here, load {load}, seed {seed}" for load in ("0.5", "1") for seed in (1, 2) for name in EDGES
    ]
    assert [(point.load, point.rate_rps, len(point.results)) for point in swept.points] == [(0.5, 5.0, 2), (1, 10.0, 2)]


def test_the_highest_rates_are_found() -> None:
    """90 % are inside one request per second beyond the edge, 99 % a tenth of a request beyond."""
    swept = sweep(Scene("", CONFIG, 10.0), Lab().measure)
    found = {(one.policy, one.target): one for one in swept.capacities}
    for name, edge in EDGES.items():
        assert found[name, 0.9].rate_rps == pytest.approx(edge + 1.0, abs=0.01)
        assert found[name, 0.99].rate_rps == pytest.approx(edge + 0.1, abs=0.5)
        span = found[name, 0.9].interval
        assert span is not None
        assert span.low == span.high == found[name, 0.9].rate_rps
    assert found["strong", 0.9].load == pytest.approx(0.9, abs=0.001)


def test_without_a_search_the_loads_tried_are_bounds() -> None:
    config = SweepConfig(policies=("weak",), loads=(0.1, 0.2), seeds=1, refine=0)
    (one, _) = sweep(Scene("", config, 10.0), Lab().measure).capacities
    assert (one.rate_rps, one.bound, one.interval) == (2.0, "above", None)


def test_load_1_is_what_the_reference_serves_when_flooded() -> None:
    lab = Lab()
    assert saturation_rps(CONFIG, lab.measure) == 5.0
    assert lab.batches == [["least_requests, overloaded, seed 1", "least_requests, overloaded, seed 2"]]


def test_scenes_are_fleets_by_delays_by_shares_of_plain_requests() -> None:
    lab = Lab()
    config = SweepConfig(fleets=("uneven", "mixed"), delays=(0.0, 1.0), plains=(0.3,), seeds=1)
    scenes = scenes_of(config, lab.measure)
    assert [scene.label for scene in scenes] == [
        f"{fleet}, {delay} s late, 30% plain" for fleet in ("uneven", "mixed") for delay in (0, 1)
    ]
    assert len(lab.batches) == 2
    last = scenes[-1].at(2.0)
    assert (last.fleet, last.feedback_delay_s, last.report_delay_s, last.plain) == ("mixed", 1.0, 1.0, 0.3)
    assert last.rate == 2.0 * scenes[-1].unit_rps


def test_a_trace_is_swept_by_its_pace(tmp_path: object) -> None:
    path = f"{tmp_path}/t.jsonl"
    with open(path, "w") as file:
        file.writelines(f'{{"timestamp": {500 * k}, "input_length": 60, "output_length": 9}}\n' for k in range(101))
    lab = Lab()
    (scene,) = scenes_of(SweepConfig(trace=path, seconds=500.0), lab.measure)
    assert not lab.batches
    assert scene.unit_rps == pytest.approx(2.0)
    assert scene.at(1.5).rate_factor == 1.5
    lent = SweepConfig(trace=path, seconds=500.0, arrivals="trace")
    (scene,) = scenes_of(lent, lab.measure)
    assert (scene.unit_rps, scene.at(1.5).rate, scene.at(1.5).rate_factor) == (5.0, 7.5, None)
