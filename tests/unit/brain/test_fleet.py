"""The fleet's rows, columns and candidates."""

import numpy as np
import pytest

from pointsman.brain.fleet import DEFAULT_SLOTS, Fleet
from pointsman.brain.model.node import NodeSpec, NodeState


def node(name: str, *models: str, **more: object) -> NodeSpec:
    return NodeSpec(url=f"http://{name}", id=name, models=models, **more)  # type: ignore[arg-type]


def test_a_node_starts_with_what_it_declares() -> None:
    fleet = Fleet(4)
    row = fleet.add(node("a", "m", kv_tokens=3200, block_tokens=32, slots=8, weight=0.5))
    assert fleet.columns.kv_capacity[row] == 100
    assert fleet.cap[row] == 4
    other = fleet.add(node("b", "m"))
    assert fleet.columns.slots[other] == DEFAULT_SLOTS
    assert np.isinf(fleet.columns.kv_capacity[other])


def test_a_taken_id_and_a_full_fleet_are_refused() -> None:
    fleet = Fleet(1)
    fleet.add(node("a"))
    with pytest.raises(ValueError, match="already a node 'a'"):
        fleet.add(node("a"))
    with pytest.raises(ValueError, match="at most 1"):
        fleet.add(node("b"))


def test_a_row_is_used_again_clean_and_with_a_new_generation() -> None:
    fleet = Fleet(4)
    row = fleet.add(node("a", "m"))
    fleet.columns.outstanding[row] = 3
    first = fleet.generation[row]
    fleet.remove(row)
    assert fleet.add(node("b", "m")) == row
    assert fleet.columns.outstanding[row] == 0
    assert fleet.generation[row] == first + 1


def test_a_hole_has_no_node() -> None:
    fleet = Fleet(4)
    fleet.remove(fleet.add(node("a")))
    with pytest.raises(LookupError, match="row 0"):
        fleet.spec(0)


def fleet_of(*states: NodeState) -> Fleet:
    fleet = Fleet(8)
    for number, state in enumerate(states):
        row = fleet.add(node(f"n{number}", "m"))
        fleet.states[row] = state
        fleet.admitted[row] = True
    return fleet


UP, JOINING, SUSPECT, DOWN, DRAINING = (
    NodeState.UP,
    NodeState.JOINING,
    NodeState.SUSPECT,
    NodeState.DOWN,
    NodeState.DRAINING,
)


@pytest.mark.parametrize(
    ("states", "refusing", "chosen", "panic"),
    [
        ((UP, UP, UP), (), [0, 1, 2], False),
        ((UP, UP, UP), (0, 1, 2), [0, 1, 2], False),
        ((UP, DOWN), (), [0], False),
        ((UP, SUSPECT), (), [0], False),
        ((UP, JOINING, DOWN, SUSPECT), (), [0, 1], False),
        ((UP, DOWN, SUSPECT), (), [0, 1, 2], True),
        ((UP, DOWN, DOWN), (1,), [0, 2], True),
        ((UP, DRAINING, DRAINING), (), [0], False),
        ((SUSPECT, DRAINING), (), [0], True),
        ((DOWN, DOWN), (0, 1), [], True),
        ((DRAINING,), (), [], False),
    ],
)
def test_candidates_are_those_in_use_and_in_panic_all_that_do_not_refuse(
    states: tuple[NodeState, ...], refusing: tuple[int, ...], chosen: list[int], panic: bool
) -> None:
    fleet = fleet_of(*states)
    for row in refusing:
        fleet.refusing[row] = True
    rows, whole = fleet.candidates("m")
    assert rows.tolist() == chosen
    assert whole == (len(chosen) == len(states))
    assert fleet.panics("m") is panic


def test_a_node_that_was_never_admitted_is_no_candidate_not_even_in_panic() -> None:
    fleet = fleet_of(DOWN)
    fleet.add(node("new", "m"))
    assert fleet.candidates("m")[0].tolist() == [0]
    assert not len(fleet.candidates("nobody's")[0])


def test_candidates_follow_a_touch() -> None:
    fleet = fleet_of(UP, UP)
    assert len(fleet.candidates("m")[0]) == 2
    fleet.states[1] = DOWN
    fleet.touch()
    assert fleet.candidates("m")[0].tolist() == [0]


def test_policies_cannot_write_the_table() -> None:
    fleet = Fleet(4)
    fleet.add(node("a"))
    with pytest.raises(ValueError, match="read-only"):
        fleet.table.outstanding[0] = 1.0
    fleet.columns.outstanding[0] = 1.0
    assert fleet.table.outstanding[0] == 1.0


def test_a_node_gives_up_its_id() -> None:
    fleet = Fleet(3)
    row = fleet.add(node("a", "m"))
    fleet.add(node("b"))
    with pytest.raises(ValueError, match="already a node 'b'"):
        fleet.rename(row, "b")
    fleet.rename(row, "before")
    assert (fleet.spec(row).name, fleet.spec(row).url) == ("before", "http://a")
    assert fleet.add(node("a")) != row
    assert (fleet.row_of["before"], fleet.room) == (row, 0)
