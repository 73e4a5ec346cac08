"""The table of holders, filled as the believed mode fills it."""

import sys

import numpy as np
import pytest

from pointsman.brain.cache import holders as module
from pointsman.brain.cache.index import PrefixIndex


def fill(nodes: int) -> PrefixIndex:
    index = PrefixIndex()
    for row in range(nodes):
        index.add(row, 1000)
    return index


def test_many_distinct_depths_take_the_linear_walk() -> None:
    nodes = 3 * module.SPARSE_LEVELS
    index = fill(nodes)
    links = list(range(1, nodes + 1))
    for row in range(nodes):
        index.insert(row, links[: row + 1])
    assert index.depths(links, nodes).tolist() == [float(row + 1) for row in range(nodes)]


def test_what_all_begin_with_is_known_of_the_nodes_that_are_there_now() -> None:
    index, links = fill(60), list(range(1, 10))
    for row in range(60):
        index.insert(row, links[:1])
    index.insert(7, links)
    expected = [float(len(links)) if row == 7 else 1.0 for row in range(60)]
    assert index.depths(links, 60).tolist() == expected
    index.clear(3)
    assert index.depths(links, 60).tolist() == [0.0 if row == 3 else depth for row, depth in enumerate(expected)]
    index.remove(7)
    index.add(60, 10)
    index.insert(60, links[:2])
    assert index.depths(links, 61)[[3, 7, 8, 60]].tolist() == [0.0, 0.0, 1.0, 2.0]


def test_equal_masks_are_one_object() -> None:
    index = fill(100)
    for row in range(100):
        index.insert(row, [1, 2, 3, 4])
    masks = {id(index._masks[link]) for link in (1, 2, 3, 4)}
    assert len(masks) == 1
    assert sys.getsizeof(index._masks[1]) < 48


def test_depths_beyond_the_rows_asked_for_do_not_exist() -> None:
    assert isinstance(fill(5).depths([1], 5), np.ndarray)


@pytest.mark.parametrize("nodes", [3, 60])
def test_depths_can_be_counted_in_tokens_and_cut_to_the_prompt(nodes: int) -> None:
    index = fill(nodes)
    index.insert(0, [1, 2, 3])
    index.insert(2, [1])
    assert index.depths([1, 2, 3], nodes, 64.0, 100.0)[:3].tolist() == [100.0, 0.0, 64.0]
    assert index.depths([1], nodes, 64.0, 10).dtype == np.float64


def test_depths_are_floats_whatever_a_link_is_counted_in() -> None:
    depths = [0.0, 0.0]
    index = fill(2)
    index.insert(1, [1, 2, 3])
    index.mark(depths, [1, 2, 3], 16, 40)
    assert depths[1] == 40.0
    assert all(type(depth) is float for depth in depths)
