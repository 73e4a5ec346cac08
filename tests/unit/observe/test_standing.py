"""Why nodes were no candidates."""

import pytest

from pointsman.brain.fleet import Fleet
from pointsman.brain.model.node import NodeSpec, NodeState
from pointsman.observe.standing import DETAILED, IN_TURN, PassedOver, Standing


def fleet_of(*names: str) -> Fleet:
    fleet = Fleet()
    for name in names:
        row = fleet.add(NodeSpec(url=f"http://{name}", id=name, models=("m",), slots=2))
        fleet.states[row] = NodeState.UP
    return fleet


def told(fleet: Fleet, standing: Standing, *failed: str) -> dict[str, str]:
    return {one.node: one.why for one in standing.passed_over(fleet, "m", (), failed)}


@pytest.mark.parametrize("state", [NodeState.DOWN, NodeState.DRAINING, NodeState.SUSPECT])
def test_health_comes_before_all_else(state: NodeState) -> None:
    fleet = fleet_of("a")
    fleet.states[0] = state
    fleet.columns.outstanding[0] = 2.0
    standing = Standing.of(fleet)
    assert standing is not None
    assert told(fleet, standing, "a") == {"a": str(state)}


def test_room_and_failures_are_told_as_they_were() -> None:
    fleet = fleet_of("a", "b", "c")
    fleet.columns.outstanding[0] = 2.0
    standing = Standing.of(fleet)
    fleet.columns.outstanding[:] = 0.0
    assert standing is not None
    whys = told(fleet, standing, "b")
    assert (whys["a"], whys["b"]) == ("full: 2 of 2 requests", "failed this request")
    assert whys["c"].startswith("not for this request")
    queued = standing.passed_over(fleet, "m", (), (), IN_TURN)
    assert [one.why for one in queued] == ["full: 2 of 2 requests", IN_TURN, IN_TURN]


def test_candidates_and_nodes_of_other_models_are_left_out() -> None:
    fleet = fleet_of("a", "b")
    fleet.models[1] = frozenset({"other"})
    standing = Standing.of(fleet)
    assert standing is not None
    assert standing.passed_over(fleet, "m", (0,), ()) == []
    assert standing.passed_over(fleet, "other", (), ("b",)) == [PassedOver("b", "failed this request")]


def test_nothing_is_kept_of_a_large_fleet() -> None:
    assert Standing.of(fleet_of(*map(str, range(DETAILED + 1)))) is None
