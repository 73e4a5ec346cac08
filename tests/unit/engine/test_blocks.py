"""The block pool: conservation, eviction order, and a model-based check of both."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from pointsman.engine.blocks import PRIVATE, BlockPool


def test_an_engine_without_blocks_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        BlockPool(0)


def publish(pool: BlockPool, *keys: int) -> None:
    for key in keys:
        assert pool.claim(key)
        pool.publish(key)


def test_freed_content_is_served_until_its_block_is_taken() -> None:
    pool = BlockPool(4)
    pool.take(2)
    publish(pool, 1, 2)
    pool.release([2, 1])
    assert pool.free == 4
    assert pool.match([1, 2, 3], 3) == 2
    pool.take(3)  # two blanks, then the block freed first
    assert pool.match([1, 2], 2) == 1
    assert pool.evicted == 1


def test_a_shared_block_is_free_only_when_nobody_holds_it() -> None:
    pool = BlockPool(2)
    pool.take(1)
    publish(pool, 7)
    pool.share([7])
    pool.release([7])
    assert pool.free == 1
    pool.release([7])
    assert pool.free == 2


def test_hits_that_are_free_count_towards_what_must_fit() -> None:
    pool = BlockPool(2)
    pool.take(1)
    publish(pool, 7)
    assert pool.can_hold([7], 1)
    pool.release([7])
    assert pool.can_hold([7], 1)
    assert not pool.can_hold([7], 2)


def test_only_one_copy_can_be_published() -> None:
    pool = BlockPool(2)
    pool.take(2)
    assert pool.claim(7)
    assert not pool.claim(7), "another is computing it"
    pool.publish(7)
    assert not pool.claim(7), "it is cached"


def test_a_claim_given_up_is_another_s_to_make() -> None:
    pool = BlockPool(2)
    assert pool.claim(7)
    pool.unclaim(7)
    assert pool.claim(7)


class PoolModel(RuleBasedStateMachine):
    """Sequences come and go; the pool must agree with plain sums over what they hold."""

    TOTAL = 12

    def __init__(self) -> None:
        super().__init__()
        self.pool = BlockPool(self.TOTAL)
        self.held: list[list[int]] = []

    @rule(family=st.integers(0, 2), length=st.integers(1, 6))
    def start(self, family: int, length: int) -> None:
        hashes = [family * 100 + position for position in range(length)]
        hits = hashes[: self.pool.match(hashes, length)]
        if not self.pool.can_hold(hits, length - len(hits)):
            return
        self.pool.share(hits)
        self.pool.take(length - len(hits))
        held = [*hits, *[PRIVATE] * (length - len(hits))]
        for position in range(len(hits), length):
            if not self.pool.claim(hashes[position]):
                break
            self.pool.publish(hashes[position])
            held[position] = hashes[position]
        self.held.append(held)

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def stop(self, data: st.DataObject) -> None:
        blocks = self.held.pop(data.draw(st.integers(0, len(self.held) - 1)))
        self.pool.release(reversed(blocks))

    @invariant()
    def blocks_are_conserved(self) -> None:
        shared = {key for blocks in self.held for key in blocks if key != PRIVATE}
        private = sum(blocks.count(PRIVATE) for blocks in self.held)
        assert self.pool.free == self.TOTAL - len(shared) - private
        assert len(shared) <= self.pool.cached <= self.TOTAL

    @invariant()
    def what_is_held_is_cached(self) -> None:
        for blocks in self.held:
            keys = [key for key in blocks if key != PRIVATE]
            assert self.pool.match(keys, len(keys)) == len(keys)


PoolModel.TestCase.settings = settings(max_examples=60, stateful_step_count=30)
TestPoolModel = PoolModel.TestCase
