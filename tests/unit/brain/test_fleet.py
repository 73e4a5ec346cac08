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


def test_candidates_are_the_healthy_ones_else_the_suspect() -> None:
    fleet = Fleet(8)
    for name in "abc":
        fleet.states[fleet.add(node(name, "m"))] = NodeState.UP
    other = fleet.add(node("d", "n"))
    assert fleet.candidates("m")[0].tolist() == [0, 1, 2]
    fleet.states[1] = NodeState.DOWN
    fleet.touch()
    rows, whole = fleet.candidates("m")
    assert rows.tolist() == [0, 2]
    assert not whole
    fleet.states[0] = fleet.states[2] = NodeState.SUSPECT
    fleet.touch()
    assert fleet.candidates("m")[0].tolist() == [0, 2]
    assert fleet.candidates("n")[0].tolist() == [other]
    assert not len(fleet.candidates("nobody's")[0])


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
