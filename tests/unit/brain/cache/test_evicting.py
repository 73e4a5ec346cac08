"""A prefix cache that evicts by a rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.brain.cache.believed import Believed
from pointsman.brain.cache.evicting import EvictingCache
from pointsman.brain.cache.eviction import EVICTION_RULES

CHAINS = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=6), min_size=1, max_size=40)


def cache(capacity: int, rule: str = "lru") -> EvictingCache:
    return EvictingCache(capacity, EVICTION_RULES[rule], lambda depth: 1.0 + depth)


def as_keys(path: list[int]) -> list[int]:
    """A chain as a trie path: key i is the number of the path's first i + 1 steps."""
    keys, number = [], 1
    for step in path:
        number = number * 4 + step + 1
        keys.append(number)
    return keys


def test_leading_blocks_are_found_and_the_tail_goes_first() -> None:
    blocks = cache(4)
    assert blocks.use([1, 2, 3], 0.0) == 0
    assert blocks.use([7, 8], 1.0) == 0
    assert blocks.use([1, 2, 3], 2.0) == 2
    assert blocks.evictions == 2  # 3 for 8, then 8 for 3


def test_a_block_named_zero_is_one_like_others() -> None:
    blocks = cache(3)
    blocks.use([0, 1], 0.0)
    blocks.use([5, 6], 1.0)
    assert blocks.use([0], 2.0) == 1


def test_often_used_blocks_outlive_a_flood_under_lfu_but_not_under_lru() -> None:
    found = {}
    for rule in ("lru", "lfu"):
        blocks = cache(4, rule)
        for now in range(3):
            blocks.use([1, 2], float(now))
        for now in range(3, 9):
            blocks.use([10 * now, 10 * now + 1], float(now))
        found[rule] = blocks.use([1, 2], 9.0)
    assert found == {"lru": 0, "lfu": 2}


def test_costly_blocks_stay_under_gdsf() -> None:
    blocks = cache(4, "gdsf")
    blocks.use([1, 2, 3], 0.0)
    blocks.use([4], 1.0)
    blocks.use([5], 2.0)  # the cheapest leaf goes: 4, though 3 is older
    assert blocks.use([1, 2, 3], 3.0) == 3


def test_classes_that_come_back_are_kept_under_reuse() -> None:
    blocks = cache(20, "reuse")
    for step in range(200):
        blocks.use([1000 + step % 8], float(step), "chat")
        blocks.use(range(10_000 + 30 * step, 10_000 + 30 * step + 2), float(step), "batch")
    assert all(blocks.use([1000 + number], 200.0, "chat") for number in range(8))


def test_a_prompt_longer_than_the_cache_is_held_to_its_size() -> None:
    blocks = cache(3)
    blocks.use([1, 2, 3, 4, 5], 0.0)
    assert (len(blocks), blocks.use([1, 2, 3, 4, 5], 1.0)) == (3, 3)


def test_a_cache_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="room"):
        cache(0)


@given(CHAINS, st.integers(1, 12), st.sampled_from(sorted(EVICTION_RULES)))
def test_a_prompt_is_held_once_used_and_the_room_is_kept(chains: list[list[int]], room: int, rule: str) -> None:
    blocks = cache(room, rule)
    for now, path in enumerate(chains):
        keys = as_keys(path)
        blocks.use(keys, float(now))
        assert len(blocks) <= room
        assert blocks.use(keys, float(now)) == min(len(keys), room)


@given(CHAINS, st.integers(1, 12))
def test_under_lru_it_holds_what_the_believed_cache_holds(chains: list[list[int]], room: int) -> None:
    blocks, believed = cache(room), Believed(room)
    for now, path in enumerate(chains):
        keys = as_keys(path)
        held = believed.depth(keys[:room])
        believed.touch(keys)
        assert blocks.use(keys, float(now)) == held


def test_queues_do_not_grow_with_the_history() -> None:
    blocks = cache(10)
    for now in range(20_000):
        blocks.use([now % 5], float(now))
    assert sum(map(len, blocks._leaves.values())) < 2_000
