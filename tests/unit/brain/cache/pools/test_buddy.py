import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.brain.cache.pools.buddy import Buddy
from pointsman.brain.model.view import LATER, NEVER, NOW


def test_slabs_are_halved_and_joined_again() -> None:
    buddy = Buddy(16)
    small, large = buddy.take(1), buddy.take(5)
    assert (small, large) == ((0, 1), (8, 8))
    assert (buddy.free(), buddy.largest(1)) == (7, 4)
    for piece in (small, large):
        assert piece is not None
        buddy.give(piece)
    assert buddy.take(16) == (0, 16)


def test_enough_in_sum_may_be_too_little_in_one_piece() -> None:
    buddy = Buddy(8)
    pieces = [buddy.take(1) for _ in range(8)]
    for piece in pieces[::2]:
        assert piece is not None
        buddy.give(piece)
    assert buddy.free() == 4
    assert [buddy.place(blocks) for blocks in (1, 2, 8, 9)] == [NOW, LATER, LATER, NEVER]


def test_a_capacity_that_is_no_power_of_two_is_used_whole() -> None:
    buddy = Buddy(13)
    assert [buddy.take(blocks) for blocks in (7, 3, 1)] == [(0, 8), (8, 4), (12, 1)]
    assert buddy.free() == 0
    assert buddy.take(1) is None
    assert buddy.most(1) == 8


def test_no_memory_holds_nothing() -> None:
    assert (Buddy(0).most(1), Buddy(0).largest(1), Buddy(0).take(1)) == (0, 0, None)


def test_a_slab_is_given_back_once() -> None:
    buddy = Buddy(16)
    piece = buddy.take(4)
    assert piece is not None
    with pytest.raises(ValueError, match="no slab of 2 blocks is taken at block 0"):
        buddy.give((0, 2))
    buddy.give(piece)
    with pytest.raises(ValueError, match="no slab of 4 blocks is taken at block 0"):
        buddy.give(piece)
    assert buddy.largest(1) == 16


@given(st.integers(0, 200), st.lists(st.tuples(st.booleans(), st.integers(1, 40)), max_size=60))
def test_slabs_never_overlap_and_all_is_whole_when_given_back(capacity: int, steps: list[tuple[bool, int]]) -> None:
    buddy, held = Buddy(capacity), list[tuple[int, int]]()
    whole = buddy.largest(1)
    for take, amount in steps:
        if take:
            fits = buddy.place(amount) == NOW
            piece = buddy.take(amount)
            assert (piece is not None) == fits
            if piece is not None:
                assert piece[1] == buddy.granted(amount) >= amount
                held.append(piece)
        elif held:
            buddy.give(held.pop(amount % len(held)))
        blocks = [block for start, size in held for block in range(start, start + size)]
        assert len(blocks) == len(set(blocks)) == capacity - buddy.free()
        assert all(0 <= block < capacity for block in blocks)
        assert buddy.largest(1) <= buddy.free()
    for piece in held:
        buddy.give(piece)
    assert (buddy.free(), buddy.largest(1)) == (capacity, whole)
