"""Blocks per node."""

from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.brain.cache.pool import Pool
from pointsman.brain.fleet import Fleet
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.view import LATER, NEVER, NOW


def pool_of(kv_tokens: int | None, **more: Any) -> tuple[Fleet, Pool]:
    fleet = Fleet(8)
    spec = NodeSpec(url="http://a", kv_tokens=kv_tokens, block_tokens=16, **more)
    row = fleet.add(spec)
    pool = Pool(fleet)
    pool.lay(row, spec)
    return fleet, pool


def test_blocks_round_up() -> None:
    _, pool = pool_of(1600)
    assert [pool.reserve(0, tokens, lease) for lease, tokens in enumerate((1, 16, 17))] == [1, 1, 2]


def test_unknown_capacity_is_boundless() -> None:
    fleet, pool = pool_of(None)
    pool.reserve(0, 16_000, 1)
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
    for lease, amount in enumerate(amounts):
        assert pool.reserve(0, 16 * amount, lease) == amount
        assert columns.kv_cached[0] <= max(0.0, 100 - columns.kv_reserved[0])
    for lease, amount in enumerate(amounts):
        pool.release(0, amount, lease)
    assert fleet.columns.kv_reserved[0] == 0.0


def test_slabs_are_counted_whole_and_fragment() -> None:
    fleet, pool = pool_of(1600, kv_layout="buddy")
    assert [pool.reserve(0, tokens, lease) for lease, tokens in enumerate((16 * 33, 16 * 17))] == [64, 32]
    assert fleet.columns.kv_reserved[0] == 96
    pool.cached(0, 1600)
    account = pool.account(0)
    assert (account.reserved, account.cached, account.free, account.queued, account.largest) == (96, 4, 0, 0, 4)
    assert [pool.place(0, 16 * blocks) for blocks in (4, 5, 65)] == [NOW, LATER, NEVER]


def test_what_the_engine_queues_is_reserved_beyond_what_it_holds() -> None:
    fleet, pool = pool_of(1600, kv_layout="size_class", kv_short_share=0.2)
    for lease in range(2):
        pool.reserve(0, 16 * 65, lease)
    assert fleet.columns.kv_reserved[0] == 130
    assert (pool.account(0).reserved, pool.account(0).queued, pool.account(0).free) == (65, 65, 35)
    assert pool.place(0, 16) == LATER
    for lease in range(2):
        pool.release(0, 65, lease)
    assert (pool.account(0).free, pool.account(0).external) == (100, pytest.approx(0.2))


def test_a_lease_may_hold_more_under_another_layout_than_it_was_counted_for() -> None:
    fleet, pool = pool_of(62 * 16, kv_layout="size_class", kv_short_share=0.0)
    pool.cached(0, 62 * 16)
    assert pool.reserve(0, 17 * 16, 1) == 17
    pool.lay(0, NodeSpec(url="http://a", kv_tokens=62 * 16, block_tokens=16, kv_layout="buddy"))
    account = pool.account(0)
    assert (account.reserved, account.cached, account.free, account.queued) == (32, 30, 0, 0)
    pool.release(0, 17, 1)
    assert (fleet.columns.kv_reserved[0], pool.account(0).reserved) == (0, 0)


def test_pages_never_lack_a_place() -> None:
    _, pool = pool_of(1600)
    pool.reserve(0, 1600, 1)
    assert pool.place(0, 10**9) == NOW


def test_a_layout_awaits_its_capacity_and_follows_it() -> None:
    fleet, pool = pool_of(None, kv_layout="buddy")
    pool.reserve(0, 16 * 5, 1)
    assert fleet.columns.kv_reserved[0] == 5
    pool.resize(0, 32.0)
    assert [pool.place(0, 16 * blocks) for blocks in (32, 33)] == [NOW, NEVER]
    assert pool.reserve(0, 16 * 5, 2) == 8
    pool.release(0, 5, 1)
    pool.resize(0, 8.0)
    assert (pool.account(0).reserved, pool.account(0).free) == (8, 0)
    pool.release(0, 8, 2)
    pool.resize(0, inf)
    assert not pool.arenas


def test_the_split_is_in_tokens_whatever_a_block_is() -> None:
    fleet, pool = pool_of(16_000, kv_layout="size_class", kv_short_share=0.1)
    fleet.cells.block_tokens[0] = 512.0
    pool.resize(0, 100.0)
    assert [pool.place(0, tokens) for tokens in (1024, 1025)] == [NOW, NOW]
    pool.reserve(0, 90 * 512, 1)
    assert [pool.place(0, tokens) for tokens in (1024, 1025)] == [NOW, LATER]


def test_a_node_that_leaves_leaves_no_layout() -> None:
    _, pool = pool_of(1600, kv_layout="buddy")
    pool.forget(0)
    pool.relay(0)
    assert not pool.arenas


def test_a_lease_can_be_counted_anew() -> None:
    fleet, pool = pool_of(1600)
    blocks = pool.reserve(0, 160, 1)
    pool.cached(0, 1600)
    blocks = pool.change(0, blocks, 321)
    assert (blocks, fleet.cells.kv_reserved[0], fleet.cells.kv_cached[0]) == (21, 21.0, 79.0)
    blocks = pool.change(0, blocks, 16)
    pool.release(0, blocks, 1)
    assert fleet.cells.kv_reserved[0] == 0.0
