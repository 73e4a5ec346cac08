"""Where a preempted sequence's blocks go, and what that takes."""

import pytest

from pointsman.brain.costs.step_time import Linear
from pointsman.engine.swap import Parked, SwapSpace, Tier

TIMING = Linear(base=0.01, per_sequence=0.0, prefill_tokens_per_second=10_000)
"""1000 tokens are computed again in 110 ms."""


def space(*tiers: Tier) -> SwapSpace:
    return SwapSpace(tiers, TIMING, 16, 2048)


def test_without_tiers_nothing_is_kept() -> None:
    assert space().park(1000, 1.0) is None
    assert space(Tier(0, 1e-6)).park(1000, 1.0) is None


def test_blocks_are_copied_out_and_back() -> None:
    swap = space(Tier(100, 0.0001))
    parked = swap.park(1000, 1.0)
    assert parked == Parked(0, 63, 1000)
    assert swap.spent() == pytest.approx(0.0063)
    assert swap.spent() == 0.0
    swap.bring(parked, cached_blocks=60)
    assert swap.spent() == pytest.approx(0.0003)
    assert (swap.blocks_out, swap.blocks_in) == (63, 3)


def test_what_is_cached_wholly_need_not_be_copied_back() -> None:
    swap = space(Tier(100, 0.0001))
    parked = swap.park(1000, 1.0)
    assert parked is not None
    swap.spent()
    swap.bring(parked, cached_blocks=64)
    assert swap.spent() == 0.0


def test_slow_memory_is_not_used_unless_computing_is_slower_still() -> None:
    swap = space(Tier(100, 0.001))
    assert swap.park(1000, 1.0) is None, "126 ms of copying against 110 ms"
    assert swap.park(1000, 2.0) is not None


def test_the_next_tier_takes_what_the_first_has_no_room_for() -> None:
    swap = space(Tier(70, 0.0001), Tier(200, 0.0002))
    first, second, third, fourth = (swap.park(1000, 1.0) for _ in range(4))
    assert first is not None
    assert [one.tier for one in (first, second, third, fourth) if one is not None] == [0, 1, 1, 1]
    assert swap.park(1000, 1.0) is None
    swap.drop(first)
    assert swap.park(1000, 1.0) == first


def test_blocks_shelved_by_order_are_fetched_by_whoever_needs_them() -> None:
    swap = space(Tier(2, 0.001), Tier(2, 0.01))
    assert swap.shelve([1, 2, 3]) == 3
    assert (swap.shelved, swap.free(0), swap.free(1)) == (3, 0, 1)
    assert swap.spent() == pytest.approx(0.012)
    assert swap.find([9, 1, 2, 4], 1, 4) == 3
    swap.fetch([9, 1, 2], 1)
    assert swap.spent() == pytest.approx(0.002)
    assert (swap.shelved, swap.free(0)) == (1, 2)


def test_what_was_shelved_first_makes_room() -> None:
    swap = space(Tier(3, 0.001))
    assert swap.shelve([1, 2]) == 2
    assert swap.shelve([3, 4]) == 2
    assert swap.find([1], 0, 1) == 0
    assert swap.find([2, 3, 4], 0, 3) == 3
    assert swap.shelve([5, 6, 7, 8]) == 3, "none of them makes room for another"
    swap.clear()
    assert (swap.shelved, swap.free(0)) == (0, 3)


def test_a_copy_of_what_is_had_is_dropped_and_costs_nothing() -> None:
    swap = space(Tier(4, 0.001))
    swap.shelve([1, 2])
    swap.spent()
    swap.fetch([1, 2], 1)
    assert (swap.spent(), swap.shelved, swap.blocks_in) == (pytest.approx(0.001), 0, 1)
