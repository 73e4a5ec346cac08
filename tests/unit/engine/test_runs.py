"""The prefix cache by runs of blocks, and a model-based check that it answers as the one by blocks does."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from pointsman.engine.blocks import PRIVATE, BlockPool
from pointsman.engine.runs import Holding, RunPool
from pointsman.workload.runs import Runs


def lazy(_: Holding) -> None:
    """A writer that has nothing new."""


def admit(pool: RunPool, chain: Runs, blocks: int) -> Holding:
    """A sequence of so many blocks, all of them computed at once."""
    hits, _ = pool.find(chain, blocks)
    holding = Holding(chain)
    pool.share(holding, hits, blocks - hits)
    pool.publish(holding, blocks)
    return holding


def test_an_engine_without_blocks_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        RunPool(0, lazy)


def test_freed_content_is_served_until_its_block_is_taken_the_end_first() -> None:
    pool = RunPool(10, lazy)
    chain = ((100, 4), (200, 3))
    pool.release(admit(pool, chain, 7), 7)
    assert (pool.free, pool.cached) == (10, 7)
    pool.take(5)  # three blanks, then the end of the second run
    assert pool.find(chain, 7) == (5, 5)
    assert (pool.evicted, pool.cached) == (2, 5)
    pool.take(2)
    assert pool.find(chain, 7) == (3, 3)


def test_chains_share_what_they_have_in_common_also_a_part_of_a_run() -> None:
    pool = RunPool(20, lazy)
    first = admit(pool, ((100, 6),), 6)
    second = admit(pool, ((100, 4), (300, 2)), 6)
    assert (second.shared, pool.free) == (6, 20 - 6 - 2)
    pool.release(first, 6)
    assert pool.free == 20 - 4 - 2, "the first four are still held"
    assert pool.find(((100, 6),), 6) == (6, 2)


def test_who_comes_second_publishes_nothing() -> None:
    pool = RunPool(20, lazy)
    first, second = Holding(((100, 6),)), Holding(((100, 6),))
    for holding in (first, second):
        pool.share(holding, 0, 6)
    pool.publish(second, 6)
    assert pool.cached == 0
    pool.publish(first, 6)
    assert pool.cached == 6
    pool.release(second, 6)
    assert pool.cached == 6


def test_a_writer_is_asked_what_it_has_when_somebody_looks() -> None:
    asked: list[Holding] = []

    def settle(holding: Holding) -> None:
        asked.append(holding)
        pool.publish(holding, 4)

    pool = RunPool(20, settle)
    writer = admit(pool, ((100, 9),), 2)
    assert pool.find(((100, 9),), 9) == (4, 0)
    assert asked == [writer]
    assert pool.extendable(((100, 9),), 4)
    pool.release(writer, 5)
    assert not pool.extendable(((100, 9),), 4)
    assert pool.find(((100, 9),), 9) == (4, 4)


class Same(RuleBasedStateMachine):
    """Sequences that come and go, in both pools."""

    TOTAL = 14

    def __init__(self) -> None:
        super().__init__()
        self.runs, self.blocks = RunPool(self.TOTAL, lazy), BlockPool(self.TOTAL)
        self.held: list[tuple[Holding, list[int]]] = []

    @rule(family=st.integers(0, 1), common=st.integers(0, 3), own=st.integers(0, 1), more=st.integers(1, 5))
    def start(self, family: int, common: int, own: int, more: int) -> None:
        runs = ((100 * family, common), (10_000 + 1000 * family + 100 * common + 20 * own, more))
        chain = tuple(run for run in runs if run[1])
        hashes = [key for first, count in chain for key in range(first, first + count)]
        hits = hashes[: self.blocks.match(hashes, len(hashes))]
        fits = self.blocks.can_hold(hits, len(hashes) - len(hits))
        found, free = self.runs.find(chain, len(hashes))
        assert found == len(hits)
        assert fits == (len(hashes) - found + free <= self.runs.free)
        if fits:
            self.held.append((admit(self.runs, chain, len(hashes)), self._admit(hashes, hits)))

    def _admit(self, hashes: list[int], hits: list[int]) -> list[int]:
        self.blocks.share(hits)
        self.blocks.take(len(hashes) - len(hits))
        held = [*hits, *[PRIVATE] * (len(hashes) - len(hits))]
        for position in range(len(hits), len(hashes)):
            assert self.blocks.claim(hashes[position])
            self.blocks.publish(hashes[position])
            held[position] = hashes[position]
        return held

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def stop(self, data: st.DataObject) -> None:
        holding, blocks = self.held.pop(data.draw(st.integers(0, len(self.held) - 1)))
        self.runs.release(holding, len(blocks))
        self.blocks.release(reversed(blocks))

    @invariant()
    def both_count_the_same(self) -> None:
        runs, blocks = self.runs, self.blocks
        assert (runs.free, runs.cached, runs.evicted) == (blocks.free, blocks.cached, blocks.evicted)


Same.TestCase.settings = settings(max_examples=100, stateful_step_count=40)
TestSame = Same.TestCase
