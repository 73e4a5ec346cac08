"""What is told: a table that fits, every figure as JSON."""

import io
import json

import msgspec
import pytest
from rich.console import Console

from pointsman.brain.policies.registry import build
from pointsman.config.sim import SimConfig
from pointsman.sim.experiment import run
from pointsman.simulate.cases import measured
from pointsman.simulate.plan import Plan, planned
from pointsman.simulate.standing import PolicyRuns
from pointsman.simulate.tell import RESIDENCY, SAME, as_json, notes, tell

POLICIES = ("round_robin", "fastest_completion")


@pytest.fixture(scope="module")
def plan() -> Plan:
    return planned(SimConfig(seconds=10.0, rate=6.0, seeds=2, warm_up=0.0))


@pytest.fixture(scope="module")
def results(plan: Plan) -> list[PolicyRuns]:
    return [
        PolicyRuns(
            name,
            tuple(measured(run(plan.experiment(build(name), k), lambda _second: None), name, k + 1) for k in range(2)),
        )
        for name in POLICIES
    ]


def printed(results: list[PolicyRuns], plan: Plan) -> str:
    out = Console(file=io.StringIO(), width=80)
    tell(results, plan, out)
    return out.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_the_table_has_a_whole_row_a_policy_in_80_columns(results: list[PolicyRuns], plan: Plan) -> None:
    text = printed(results, plan)
    assert all(any(line.startswith(name + " ") for line in text.splitlines()) for name in POLICIES)
    assert "…" not in text
    assert "SLO: TTFT ≤ 5 s and TPOT ≤ 100 ms." in text
    assert "headline figure" in text


def test_a_single_run_shows_its_nodes(results: list[PolicyRuns], plan: Plan) -> None:
    one = [PolicyRuns("round_robin", results[0].runs[:1])]
    assert "slow-2" in printed(one, plan).split("Fleet:")[0]
    assert "slow-2" not in printed(results, plan).split("Fleet:")[0]


def test_json_holds_every_seed(results: list[PolicyRuns], plan: Plan) -> None:
    document = json.loads(msgspec.json.encode(as_json(results, plan)))
    assert [policy["name"] for policy in document["policies"]] == list(POLICIES)
    first = document["policies"][0]
    assert [one["seed"] for one in first["seeds"]] == [1, 2]
    assert first["goodput_rps"] == pytest.approx(sum(one["figures"]["goodput_rps"] for one in first["seeds"]) / 2)
    assert [node["name"] for node in first["seeds"][0]["nodes"]] == document["fleet"]
    assert document["settings"]["rate"] == 6.0
    assert "headline figure" in document["verdict"][0]
    low, high = first["intervals"]["goodput_rps"]
    assert low <= first["goodput_rps"] <= high
    assert "slowdown_by_length" not in first["intervals"]


def test_intervals_are_explained_where_there_are_any(results: list[PolicyRuns], plan: Plan) -> None:
    assert "±" in printed(results, plan)
    assert "±" not in printed([PolicyRuns("round_robin", results[0].runs[:1])], plan)


def test_equal_demands_are_said_to_be_equal(plan: Plan) -> None:
    assert SAME not in notes(plan)
    assert SAME in notes(msgspec.structs.replace(plan, demands=(plan.demands[0],) * 2))


def test_what_was_simulated_is_said(plan: Plan) -> None:
    assert any("mean of 2 seeds from 1" in note for note in notes(plan))


@pytest.mark.parametrize("residency", ["commanded", "reported"])
def test_how_it_is_known_what_nodes_have_cached_is_told_where_it_is_not_believed(plan: Plan, residency: str) -> None:
    config = msgspec.structs.replace(plan.config, residency=residency)
    assert RESIDENCY[residency] in notes(msgspec.structs.replace(plan, config=config))
    assert not set(RESIDENCY.values()) & set(notes(plan))
