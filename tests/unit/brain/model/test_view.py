from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.brain.model.view import COLUMNS, FEW, Cells, Columns, View

ROWS = 6


def columns(seed: int = 0) -> Columns:
    """Random positive columns; no two cells are equal."""
    random = np.random.default_rng(seed)
    return Columns(**{name: random.random(ROWS) + 1.0 for name in COLUMNS})


def view(table: Columns, nodes: list[int], **given: Any) -> View:
    usual: dict[str, Any] = {"overlap": np.zeros(len(nodes)), "prompt_tokens": 100.0, "output_tokens": 20.0}
    return View(table, np.array(nodes), **(usual | given))


def one(**cells: float) -> View:
    """A view of one node with the given cells, zero elsewhere but where a division needs more."""
    table = Cells(1).columns()
    own = ("prompt_tokens", "output_tokens", "reserve_tokens", "priority")
    given = {name: cells.pop(name) for name in own if name in cells}
    overlap = np.array([cells.pop("overlap", 0.0)])
    for name, value in ({"slots": 1.0, "kv_capacity": np.inf, "block_tokens": 16.0} | cells).items():
        getattr(table, name)[:] = value
    return view(table, [0], overlap=overlap, **given)


@pytest.mark.parametrize("name", COLUMNS)
def test_each_column_shows_the_candidates_rows_in_their_order(name: str) -> None:
    table = columns()
    assert getattr(view(table, [4, 1]), name).tolist() == getattr(table, name)[[4, 1]].tolist()


def test_a_whole_fleet_is_not_copied() -> None:
    table = columns()
    assert np.shares_memory(view(table, list(range(ROWS)), whole=True).outstanding, table.outstanding)


def test_read_only_aliases_follow_the_table_and_refuse_to_be_written() -> None:
    table = columns()
    alias = table.read_only(3)
    table.slots[2] = 77.0
    assert alias.slots.tolist()[2] == 77.0
    with pytest.raises(ValueError, match="read-only"):
        alias.slots[0] = 1.0


def test_load_is_the_worst_of_its_four_parts() -> None:
    parts = {"kv_reserved": 3.0, "kv_capacity": 10.0, "outstanding": 2.0, "slots": 10.0, "reported_load": 0.1}
    assert one(**parts).load == pytest.approx([0.3])
    assert one(**(parts | {"outstanding": 9.0})).load == pytest.approx([0.9])
    assert one(**(parts | {"reported_load": 0.5})).load == pytest.approx([0.5])
    assert one(**parts, backlog_tokens=4000.0, prefill_per_token=0.001).load == pytest.approx([0.8])


def test_prefill_counts_uncached_tokens_and_their_attention_to_all_before() -> None:
    seen = one(overlap=60.0, prompt_tokens=100.0, prefill_base=1.0, prefill_per_token=0.1, prefill_per_pair=0.01)
    assert seen.miss.tolist() == [40.0]
    assert seen.prefill_seconds == pytest.approx([1.0 + 0.1 * 40 + 0.01 * 40 * (60 + 20)])


def test_blocks_cover_what_is_not_cached_and_fit_beside_what_is_reused() -> None:
    cells = {"overlap": 32.0, "prompt_tokens": 100.0, "output_tokens": 13.0, "kv_reserved": 2.0}
    assert one(**cells).blocks_needed.tolist() == [6.0]
    assert one(**cells, kv_capacity=10.0).fits.tolist() == [True]
    assert one(**cells, kv_capacity=9.0).fits.tolist() == [False]


def test_utility_is_value_per_memory_and_load() -> None:
    cells = {"priority": 3.0, "prompt_tokens": 32.0, "output_tokens": 0.0, "outstanding": 1.0, "slots": 2.0}
    assert one(**cells).utility == pytest.approx([3.0 / (2 * 16 * 1.5)])
    assert one(**cells, overlap=32.0).utility == pytest.approx([3.0 / (1 * 16 * 1.5)]), "at least one block"


def test_memory_is_reserved_for_more_than_the_expected_answer_where_asked() -> None:
    cells = {"prompt_tokens": 100.0, "output_tokens": 10.0}
    assert one(**cells).blocks_needed.tolist() == [7.0]
    assert one(**cells, reserve_tokens=60.0).blocks_needed.tolist() == [10.0]


@given(st.lists(st.integers(0, ROWS - 1), min_size=1, max_size=ROWS, unique=True), st.integers(0, 5))
def test_a_snapshot_shows_the_same_and_stays_when_the_fleet_moves_on(nodes: list[int], seed: int) -> None:
    table = columns(seed)
    seen = view(table, nodes, sequence=3, draw=9, memo="x", priority=2.0, gateways=2)
    kept = seen.snapshot()
    before = {name: getattr(seen, name).tolist() for name in (*COLUMNS, "load", "blocks_needed", "prefill_seconds")}
    for name in COLUMNS:
        getattr(table, name)[:] = 99.0
    assert {name: getattr(kept, name).tolist() for name in before} == before
    assert kept.nodes.tolist() == nodes
    assert (kept.sequence, kept.draw, kept.memo, kept.priority, kept.gateways) == (3, 9, "x", 2.0, 2)


@given(st.lists(st.integers(0, ROWS - 1), min_size=1, max_size=ROWS, unique=True), st.integers(0, 5), st.data())
def test_a_view_among_some_candidates_shows_their_rows(nodes: list[int], seed: int, data: st.DataObject) -> None:
    seen = view(columns(seed), nodes, sequence=3, draw=9)
    some = np.array(data.draw(st.lists(st.integers(0, len(nodes) - 1), min_size=1, unique=True)))
    for whole in (seen, seen.snapshot()):
        fewer = whole.among(some)
        assert fewer.nodes.tolist() == [nodes[each] for each in some]
        for name in ("outstanding", "load", "prefill_seconds"):
            assert getattr(fewer, name).tolist() == getattr(seen, name)[some].tolist()
        assert (fewer.sequence, fewer.draw) == (3, 9)


def test_few_candidates_can_be_looked_at_one_by_one() -> None:
    cells = Cells(FEW + 1)
    cells.running[4] = 7.0
    few = view(cells.columns(), [4, 1], cells=cells, overlap=np.array([3.0, 5.0]))
    assert few.is_small
    assert [(each.running, each.overlap) for each in few.candidates] == [(7.0, 3.0), (0.0, 5.0)]
    assert not view(cells.columns(), list(range(FEW + 1)), cells=cells).is_small
    assert not view(cells.columns(), [4, 1]).is_small
