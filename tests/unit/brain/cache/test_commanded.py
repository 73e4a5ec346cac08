"""The account of a node that obeys: who goes, who stays, and what is to be ordered."""

import pytest

from pointsman.brain.cache.commanded import Commanded
from pointsman.brain.cache.eviction import EVICTION_RULES


def account(*chains: tuple[int, ...], rule: str = "lru") -> Commanded:
    held = Commanded(EVICTION_RULES[rule], lambda _depth: 1.0)
    for now, chain in enumerate(chains):
        held.now = float(now)
        held.touch(chain)
    return held


def test_nothing_goes_until_it_is_told_to_shrink_and_then_the_ends_of_what_is_old() -> None:
    held = account((1, 2, 3), (1, 4, 5))
    assert (len(held), held.given_up) == (5, [])
    assert held.shrink(3) == [3, 2]
    assert held.given_up == [3, 2]
    assert (held.depth((1, 2, 3)), held.depth((1, 4, 5))) == (1, 3)


@pytest.mark.parametrize(("rule", "goes"), [("lru", 3), ("lfu", 9)])
def test_the_rule_says_who_goes(rule: str, goes: int) -> None:
    held = account((1, 3), (1, 3), (8, 9), rule=rule)
    assert held.shrink(3) == [goes]


def test_what_is_held_stays_with_all_before_it_until_it_is_let_go_as_often() -> None:
    held = account((1, 2, 3), (7,))
    assert held.tree.hold(2)
    assert held.tree.hold(2)
    assert held.shrink(0) == [3, 7]
    held.tree.let_go(2)
    assert held.shrink(0) == []
    held.tree.let_go(2)
    assert held.shrink(0) == [2, 1]
    assert not held.tree.hold(9)


def test_what_was_not_computed_is_ordered_away() -> None:
    held = account((1, 2))
    held.touch((1, 2, 3, 4))
    touch = held.newest
    assert touch is not None
    assert held.undo(touch, (3, 4)) == [4, 3]
    assert held.given_up == [4, 3]
    assert len(held) == 2


def test_what_the_node_lost_is_not_held_and_not_ordered() -> None:
    held = account((1, 2, 3))
    assert held.lost((3, 1, 9)) == [3], "1 is followed by 2"
    assert held.given_up == []
    assert held.depth((1, 2, 3)) == 2


def test_its_chains_are_told_the_oldest_first() -> None:
    held = account((1, 2, 3), (5,), (1, 2, 4))
    held.tree.hold(3)
    assert held.tree.chains() == [[1, 2, 3], [5], [1, 2, 4]]
    assert held.newest_chains(9) == []
