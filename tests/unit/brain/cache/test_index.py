"""The index against a naive model: a set of links per node."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.brain.cache.index import Insertion, PrefixIndex


def fill(nodes: int, capacity: int = 1000) -> PrefixIndex:
    index = PrefixIndex()
    for row in range(nodes):
        index.add(row, capacity)
    return index


def naive_depth(held: set[int], links: list[int]) -> int:
    return next((i for i, link in enumerate(links) if link not in held), len(links))


@pytest.mark.parametrize("nodes", [3, 60, 300])
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_depths_equal_the_naive_walk(nodes: int, data: st.DataObject) -> None:
    index = fill(nodes)
    links = list(range(100, 160))
    held: dict[int, set[int]] = {row: set() for row in range(nodes)}
    for row in data.draw(st.lists(st.integers(0, nodes - 1), max_size=40)):
        depth = data.draw(st.integers(0, len(links)))
        index.insert(row, links[:depth])
        held[row] |= set(links[:depth])
    expected = [naive_depth(held[row], links) for row in range(nodes)]
    assert index.depths(links, nodes).tolist() == expected
    assert [index.depth(row, links) for row in range(nodes)] == expected


def test_an_unknown_chain_is_held_nowhere() -> None:
    index = fill(4)
    index.insert(1, [1, 2, 3])
    assert not index.depths([9, 10], 4).any()
    assert not index.depths([], 4).any()


def test_eviction_on_one_node_leaves_the_other() -> None:
    index = fill(2, capacity=2)
    index.insert(0, [1, 2])
    index.insert(1, [1, 2])
    index.insert(0, [7, 8])
    assert index.depths([1, 2], 2).tolist() == [0.0, 2.0]


def test_a_cleared_node_holds_nothing_at_once() -> None:
    index = fill(3)
    for row in range(3):
        index.insert(row, [1, 2, 3])
    index.clear(1)
    assert index.depths([1, 2, 3], 3).tolist() == [3.0, 0.0, 3.0]
    index.insert(1, [1])
    assert index.depths([1, 2, 3], 3).tolist() == [3.0, 1.0, 3.0]


def test_entries_follow_live_links_through_restarts() -> None:
    index = fill(2, capacity=500)
    for generation in range(60):
        index.insert(0, list(range(generation * 1000 + 1, generation * 1000 + 401)))
        index.clear(0)
    for extra in range(400):
        index.insert(1, [10_000_000 + extra])
    assert len(index) <= 2 * 500
    assert len(index._row_list) <= 4


def test_undo_takes_back_what_one_insertion_added() -> None:
    index = fill(2)
    index.insert(1, [1, 2, 3])
    index.insert(0, [1])
    index.undo(0, [1, 2, 3], index.insert(0, [1, 2, 3]))
    assert index.depths([1, 2, 3], 2).tolist() == [1.0, 3.0]


def test_a_prefix_that_another_prompt_shares_outlives_the_failure_of_the_first() -> None:
    index = fill(1, capacity=12)
    longer = list(range(1, 11))
    first = index.insert(0, longer[:3])
    index.insert(0, longer)
    index.undo(0, longer[:3], first)
    assert index.depths(longer, 1).tolist() == [10.0]
    index.insert(0, list(range(100, 112)))
    assert index.depths(longer, 1).tolist() == [0.0]


def test_an_insertion_from_before_a_restart_undoes_nothing_after_it() -> None:
    index = fill(1)
    lost = index.insert(0, [1, 2])
    index.clear(0)
    index.insert(0, [1, 2])
    index.undo(0, [1, 2], lost)
    assert index.depths([1, 2], 1).tolist() == [2.0]


@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_table_and_nodes_agree_whatever_happens(data: st.DataObject) -> None:
    """Chains that branch, small nodes, insertions undone late, restarts: the masks say what the nodes hold."""
    index = fill(2, capacity=6)
    chains = [[1, 2, 3, 4], [1, 2, 3, 5, 6, 7, 8], [1, 9], [10, 11, 12]]
    done: list[tuple[int, list[int], Insertion]] = []
    for _ in range(data.draw(st.integers(1, 30))):
        row, links = data.draw(st.integers(0, 1)), data.draw(st.sampled_from(chains))
        action = data.draw(st.sampled_from(["insert", "insert", "undo", "clear"]))
        if action == "insert":
            done.append((row, links, index.insert(row, links)))
        elif action == "undo" and done:
            index.undo(*done.pop(data.draw(st.integers(0, len(done) - 1))))
        elif action == "clear":
            index.clear(row)
        for links in chains:
            assert index.depths(links, 2).tolist() == [
                naive_depth(set(index._held[row].owner), links) for row in range(2)
            ]


def test_a_shrunk_node_drops_its_least_recent() -> None:
    index = fill(1, capacity=10)
    index.insert(0, [1, 2])
    index.insert(0, [5, 6])
    index.resize(0, 2)
    assert index.depths([5, 6], 1).tolist() == [2.0]
    assert index.depths([1, 2], 1).tolist() == [0.0]


def test_rows_are_used_again_after_removal() -> None:
    index = fill(2)
    index.insert(0, [1])
    index.remove(0)
    index.add(0, 10)
    assert index.depths([1], 2).tolist() == [0.0, 0.0]
