"""The believed LRU of one node."""

from hypothesis import given
from hypothesis import strategies as st

from pointsman.brain.cache.believed import Believed

CHAINS = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=6), min_size=1, max_size=40)


def as_links(path: list[int]) -> list[int]:
    """A chain as a trie path: link i is the number of the path's first i+1 steps."""
    links, number = [], 1
    for step in path:
        number = number * 4 + step + 1
        links.append(number)
    return links


def test_least_recent_tail_goes_first() -> None:
    node = Believed(4)
    node.touch([1, 2, 3])
    assert node.touch([7, 8]) == [3]
    assert node.depth([1, 2, 3]) == 2
    assert node.depth([7, 8]) == 2


def test_touching_again_makes_a_chain_recent() -> None:
    node = Believed(4)
    node.touch([1, 2])
    node.touch([5, 6])
    node.touch([1, 2])
    assert node.touch([9]) == [6]


def test_a_chain_longer_than_the_room_is_cut() -> None:
    node = Believed(3)
    node.touch([1, 2, 3, 4, 5])
    assert node.depth([1, 2, 3, 4, 5]) == 3


def test_forgotten_links_are_gone() -> None:
    node = Believed(8)
    node.touch([1, 2, 3])
    assert node.forget([2, 3]) == [2, 3]
    assert node.depth([1, 2, 3]) == 1
    assert len(node) == 1


@given(CHAINS, st.integers(1, 12))
def test_held_is_bounded_and_closed_under_prefixes(paths: list[list[int]], capacity: int) -> None:
    node = Believed(capacity)
    for path in paths:
        links = as_links(path)
        before = set(node.owner)
        evicted = node.touch(links)
        assert len(node) <= capacity
        assert set(node.owner) == (before | set(links[:capacity])) - set(evicted)
        for held in node.owner:
            parent = (held - 1) // 4
            assert parent < 4 or parent in node.owner


@given(st.integers(1, 50))
def test_memory_follows_live_links_whatever_the_history(capacity: int) -> None:
    node = Believed(capacity)
    links = list(range(1, 40))
    for _ in range(500):
        node.touch(links)
    assert sum(len(kept) for _, kept in node.touches) <= 4 * capacity + 1024 + len(links)
