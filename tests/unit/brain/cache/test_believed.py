"""The believed LRU of one node."""

from hypothesis import given
from hypothesis import strategies as st

from pointsman.brain.cache.believed import Believed, Touch

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


def test_an_undone_touch_leaves_what_was_held_before() -> None:
    node = Believed(8)
    node.touch([1])
    node.touch([1, 2, 3])
    assert node.newest is not None
    assert node.undo(node.newest, [2, 3]) == [2, 3]
    assert node.depth([1, 2, 3]) == 1
    assert len(node) == 1


def test_what_a_later_touch_covers_is_not_undone() -> None:
    node = Believed(8)
    node.touch([1, 2, 3])
    first = node.newest
    assert first is not None
    node.touch([1, 2, 7, 8])
    assert node.undo(first, [1, 2, 3]) == [3]
    assert node.depth([1, 2, 7, 8]) == 4


def closed_under_prefixes(node: Believed) -> bool:
    return all((held - 1) // 4 < 4 or (held - 1) // 4 in node.owner for held in node.owner)


@given(CHAINS, st.integers(1, 12), st.data())
def test_held_is_bounded_and_closed_under_prefixes(paths: list[list[int]], capacity: int, data: st.DataObject) -> None:
    node = Believed(capacity)
    added: list[tuple[Touch, list[int], int]] = []
    for path in paths:
        links = as_links(path)
        before = set(node.owner)
        known = node.depth(links)
        evicted = node.touch(links)
        assert node.newest is not None
        added.append((node.newest, links[known:], node.newest.prolonged))
        assert len(node) <= capacity
        assert set(node.owner) == (before | set(links[:capacity])) - set(evicted)
        assert closed_under_prefixes(node)
        if data.draw(st.booleans()):
            node.undo(*added[data.draw(st.integers(0, len(added) - 1))])
            assert closed_under_prefixes(node)


@given(st.integers(1, 50))
def test_memory_follows_live_links_whatever_the_history(capacity: int) -> None:
    node = Believed(capacity)
    links = list(range(1, 40))
    for _ in range(500):
        node.touch(links)
    assert sum(len(touch.links) for touch in node.touches) <= 4 * capacity + 1024 + len(links)


@given(chains=CHAINS, capacity=st.integers(1, 40), undone=st.integers(0, 5))
def test_what_was_touched_of_late_leads_to_the_same_beliefs_elsewhere(
    chains: list[list[int]], capacity: int, undone: int
) -> None:
    here, there = Believed(capacity), Believed(capacity)
    for number, path in enumerate(chains):
        links = as_links(path)
        known = here.depth(links)
        here.touch(links)
        if number == undone:
            assert here.newest is not None
            here.undo(here.newest, links[known:])
    for links in here.newest_chains(10**6):
        there.touch(links)
    assert set(there.owner) == set(here.owner)
    assert set(there.shrink(capacity // 2)) == set(here.shrink(capacity // 2))


def test_of_more_than_is_asked_for_the_newest_is_told() -> None:
    node = Believed(100)
    for first in (1, 11, 21):
        node.touch([first, first + 1, first + 2])
    assert [list(chain) for chain in node.newest_chains(7)] == [[11, 12, 13], [21, 22, 23]]


def test_a_chain_that_goes_on_needs_no_touch_of_its_own() -> None:
    node = Believed(100)
    for turn in range(1, 10):
        node.touch(list(range(1, turn + 1)))
        node.touch([50, 51])
    assert [touch.links.tolist() for touch in node.touches] == [list(range(1, 10)), [50, 51]]


def test_what_a_prolonged_touch_had_added_before_is_not_undone() -> None:
    node = Believed(8)
    node.touch([1, 2])
    first, before = node.newest, node.newest.prolonged if node.newest else 0
    node.touch([1, 2, 3])
    assert first is node.newest
    assert first is not None
    assert node.undo(first, [1, 2], before) == []
    assert node.undo(first, [3], first.prolonged) == [3]
    assert node.depth([1, 2, 3]) == 2


def test_what_is_left_of_a_touch_that_was_covered_in_part_is_not_taken_for_its_beginning() -> None:
    node = Believed(4)
    node.touch([1, 2, 3])
    node.touch([1, 9])
    node._rebuild()
    assert [touch.links.tolist() for touch in node.touches] == [[2, 3], [1, 9]]
    node.touch([1, 2])
    assert node.touch([7]) == [3]


class Plain:
    """The same model, link by link: a time for each, and of the oldest the deepest goes first."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.held: dict[int, tuple[int, int]] = {}
        self.now = 0

    def touch(self, links: list[int]) -> list[int]:
        self.now += 1
        self.held |= {link: (self.now, -depth) for depth, link in enumerate(links[: self.capacity])}
        gone = sorted(self.held, key=self.held.__getitem__)[: max(0, len(self.held) - self.capacity)]
        for link in gone:
            del self.held[link]
        return gone


@given(CHAINS, st.integers(1, 12), st.data())
def test_the_same_is_evicted_as_where_each_link_has_its_time(
    paths: list[list[int]], capacity: int, data: st.DataObject
) -> None:
    node, plain = Believed(capacity), Plain(capacity)
    for path in paths:
        assert node.touch(as_links(path)) == plain.touch(as_links(path))
        assert set(node.owner) == set(plain.held)
        if data.draw(st.booleans()):
            node._rebuild()
