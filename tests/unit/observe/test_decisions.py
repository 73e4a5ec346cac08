from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pointsman.brain.fleet import Fleet
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.view import Cells, View
from pointsman.observe.decision import CandidateScore
from pointsman.observe.decisions import Decisions
from pointsman.observe.standing import PassedOver


@pytest.fixture
def fleet() -> Fleet:
    fleet = Fleet()
    for name in "abc":
        fleet.add(NodeSpec(url=f"http://{name}", id=name))
    return fleet


def test_a_decision_tells_every_candidate_and_the_chosen_one(
    fleet: Fleet, decided: Callable[..., Any], make_view: Callable[..., Any]
) -> None:
    decisions = Decisions(fleet, epoch=1000.0)
    decisions(decided("r1", view=make_view([3.0, 1.0, 2.0], overlap=np.array([0.0, 16.0, 32.0]))))
    (decision,) = decisions.of("r1")
    assert decision.node == "b"
    assert decision.reason == "shortest"
    assert decision.time == 1005.0
    assert decision.candidates == [
        CandidateScore("a", 3.0, 0.0, 7.0, None, True),
        CandidateScore("b", 1.0, 16.0, 6.0, None, True),
        CandidateScore("c", 2.0, 32.0, 5.0, None, True),
    ]


def test_memory_is_that_of_the_moment_and_utility_what_the_policy_looked_at(
    fleet: Fleet, decided: Callable[..., Any], make_view: Callable[..., Any]
) -> None:
    decisions, view = Decisions(fleet), make_view([0.0, 0.0, 0.0])
    for row in range(3):
        fleet.columns.kv_capacity[row] = 10.0
    view.columns.kv_capacity[:] = 10.0
    view.columns.kv_reserved[:] = [0.0, 4.0, 10.0]
    assert view.load.tolist() == [0.0, 0.4, 1.0]
    decisions(decided(view=view))
    view.columns.kv_reserved[:] = 0.0
    told = decisions.last()[0].candidates
    assert [(one.blocks_free, one.fits) for one in told] == [(10.0, True), (6.0, False), (0.0, False)]
    assert [one.utility for one in told] == [1 / 112, pytest.approx(1 / 112 / 1.4), 1 / 224]


def test_of_few_candidates_memory_is_read_one_by_one(fleet: Fleet, decided: Callable[..., Any]) -> None:
    cells = Cells(3)
    for row, held in enumerate((0.0, 4.0, 10.0)):
        fleet.columns.kv_capacity[row] = cells.kv_capacity[row] = 10.0
        cells.block_tokens[row], cells.slots[row], cells.kv_reserved[row] = 16.0, 64.0, held
    rows = np.array([0, 2])
    view = View(cells.columns(), rows, overlap=[0.0, 0.0], prompt_tokens=100, output_tokens=10, cells=cells)
    decisions = Decisions(fleet)
    decisions(decided(view=view))
    cells.kv_reserved[2] = 0.0
    assert [(one.node, one.blocks_free) for one in decisions.last()[0].candidates] == [("a", 10.0), ("c", 0.0)]


def test_of_nodes_that_are_there_no_more_memory_is_not_told(
    fleet: Fleet, decided: Callable[..., Any], make_view: Callable[..., Any]
) -> None:
    decisions = Decisions(fleet)
    decisions(decided(view=make_view([3.0, 1.0, 2.0])))
    fleet.remove(1)
    assert [one.fits for one in decisions.last()[0].candidates] == [None, None, None]


def test_nodes_that_were_no_candidates_are_told_with_the_reason(
    fleet: Fleet, decided: Callable[..., Any], make_view: Callable[..., Any]
) -> None:
    for row in range(3):
        fleet.models[row] = frozenset({"m"})
    fleet.columns.outstanding[1] = 64.0
    decisions = Decisions(fleet)
    decisions(decided("r", view=make_view([2.0], rows=[0])))
    fleet.columns.outstanding[1] = 0.0
    ((_, decision),) = decisions.timed("r", {"c"})
    assert decision.passed_over == [
        PassedOver("b", "full: 64 of 64 requests"),
        PassedOver("c", "failed this request"),
    ]


def test_rows_of_the_view_are_translated_to_nodes(
    fleet: Fleet, decided: Callable[..., Any], make_view: Callable[..., Any]
) -> None:
    decisions = Decisions(fleet)
    decisions(decided(view=make_view([2.0, 1.0], rows=[0, 2])))
    assert decisions.last()[0].node == "c"


def test_a_decision_keeps_its_values_when_the_fleet_moves_on(
    fleet: Fleet, decided: Callable[..., Any], make_view: Callable[..., Any]
) -> None:
    view, decisions = make_view([3.0, 1.0, 2.0], whole=True), Decisions(fleet)
    decisions(decided(view=view))
    view.columns.outstanding[:] = 99.0
    fleet.remove(1)
    fleet.add(NodeSpec(url="http://new", id="new"))
    kept = decisions.last()[0]
    assert kept.node == "b"
    assert [candidate.score for candidate in kept.candidates] == [3.0, 1.0, 2.0]


def test_only_the_last_are_kept_newest_first(fleet: Fleet, decided: Callable[..., Any]) -> None:
    decisions = Decisions(fleet, kept=3)
    for i in range(5):
        decisions(decided(f"r{i}", now=float(i)))
    assert [decision.request_id for decision in decisions.last()] == ["r4", "r3", "r2"]
    assert [decision.request_id for decision in decisions.last(1)] == ["r4"]
    assert decisions.last(0) == []


def test_holds_do_not_push_out_placements(fleet: Fleet, decided: Callable[..., Any]) -> None:
    decisions = Decisions(fleet, kept=2)
    decisions(decided("placed", now=1.0))
    for i in range(10):
        decisions(decided("held", hold=True, now=2.0 + i))
    assert [decision.node for decision in decisions.of("placed")] == ["b"]
    assert [(decision.node, decision.times, decision.time) for decision in decisions.of("held")] == [(None, 10, 11.0)]


def test_the_last_holds_of_so_many_requests_are_kept(fleet: Fleet, decided: Callable[..., Any]) -> None:
    decisions = Decisions(fleet, kept=2)
    for ticket in (1, 2, 1, 3):
        decisions(decided(f"r{ticket}", ticket=ticket, hold=True))
    assert [decisions.of(f"r{ticket}") != [] for ticket in (1, 2, 3)] == [True, False, True]


def test_the_decisions_of_one_request_are_told_in_order(fleet: Fleet, decided: Callable[..., Any]) -> None:
    decisions = Decisions(fleet)
    decisions(decided("r", hold=True, now=1.0, reason="full"))
    decisions(decided("r", now=2.0))
    decisions(decided("other", now=3.0))
    assert [decision.reason for decision in decisions.of("r")] == ["full", "shortest"]


def test_decisions_are_told_for_one_model(fleet: Fleet, decided: Callable[..., Any]) -> None:
    decisions = Decisions(fleet)
    decisions(decided("r1", model="m"))
    decisions(decided("r2", model="other"))
    assert [decision.request_id for decision in decisions.last(model="other")] == ["r2"]
