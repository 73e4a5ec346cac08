"""Blocks per node."""

from hypothesis import given
from hypothesis import strategies as st

from pointsman.brain.cache.pool import Pool
from pointsman.brain.fleet import Fleet
from pointsman.brain.model.node import NodeSpec


def pool_of(kv_tokens: int | None) -> tuple[Fleet, Pool]:
    fleet = Fleet(8)
    fleet.add(NodeSpec(url="http://a", kv_tokens=kv_tokens, block_tokens=16))
    return fleet, Pool(fleet)


def test_blocks_round_up() -> None:
    _, pool = pool_of(1600)
    assert [pool.reserve(0, tokens) for tokens in (1, 16, 17)] == [1, 1, 2]


def test_unknown_capacity_is_boundless() -> None:
    fleet, pool = pool_of(None)
    pool.reserve(0, 16_000)
    pool.cached(0, 16_000_000)
    assert fleet.columns.kv_cached[0] == 1_000_000


def test_a_node_has_room_for_one_block_at_least() -> None:
    fleet, _ = pool_of(5)
    assert fleet.columns.kv_capacity[0] == 1


@given(st.lists(st.integers(0, 60), max_size=30), st.integers(0, 3200))
def test_no_block_is_both_reserved_and_cached(amounts: list[int], cached: int) -> None:
    fleet, pool = pool_of(1600)
    columns = fleet.columns
    pool.cached(0, cached)
    assert columns.kv_cached[0] == min(100, cached // 16)
    for amount in amounts:
        assert pool.reserve(0, 16 * amount) == amount
        assert columns.kv_cached[0] <= max(0.0, 100 - columns.kv_reserved[0])
    for amount in amounts:
        pool.release(0, amount)
    assert fleet.columns.kv_reserved[0] == 0.0
