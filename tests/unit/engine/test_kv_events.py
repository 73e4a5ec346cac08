"""What an engine tells of its prefix cache, and that it is enough to know what the cache holds."""

from random import Random

from pointsman.brain.costs.step_time import Linear
from pointsman.engine.core import Core, Limits
from pointsman.engine.kv_events import AllBlocksCleared, BlockRemoved, BlockStored, KvEventBatch, KvEventLog
from pointsman.engine.sequence import Sequence

TIMING = Linear(base=0.01, per_sequence=0.0, prefill_tokens_per_second=10_000)


def test_neighbours_of_one_kind_are_one_event() -> None:
    log = KvEventLog(16)
    for key, parent in ((1, None), (2, 1), (9, 1)):
        log.stored(key, parent)
    log.removed(5)
    log.removed(4)
    log.cleared()
    batch = log.batch(3.0)
    assert batch == KvEventBatch(
        0, 3.0, (BlockStored((1, 2), None, 16), BlockStored((9,), 1, 16), BlockRemoved((5, 4)), AllBlocksCleared())
    )
    assert log.batch(4.0) is None
    log.removed(1)
    after = log.batch(5.0)
    assert after is not None
    assert after.sequence == 1


def test_blocks_are_told_when_the_step_is_over_that_computed_them() -> None:
    core = Core(Limits(blocks=100, block_size=4), TIMING, kv_events=True)
    core.add(Sequence("a", 10, 2, [11, 12]), 0.0)
    step = core.schedule(0.0)
    assert step is not None
    told = core.complete(step, 1.5).kv_events
    assert told == KvEventBatch(0, 1.5, (BlockStored((11, 12), None, 4),))


def test_who_does_not_listen_is_told_nothing() -> None:
    core = Core(Limits(blocks=100, block_size=4), TIMING)
    core.add(Sequence("a", 10, 2, [11, 12]), 0.0)
    step = core.schedule(0.0)
    assert step is not None
    assert core.complete(step, 1.5).kv_events is None


def test_a_listener_knows_what_the_cache_holds() -> None:
    random, core, held, batches = Random(1), Core(Limits(blocks=60, block_size=4), TIMING, kv_events=True), set(), 0
    for number in range(120):
        chain = random.randint(0, 9)
        blocks = random.randint(1, 12)
        core.add(Sequence(str(number), 4 * blocks + 1, 5, [100 * chain + at for at in range(blocks)]), 0.0)
    while (step := core.schedule(0.0)) is not None:
        batch = core.complete(step, 0.0).kv_events
        if batch is None:
            continue
        assert batch.sequence == batches
        batches += 1
        for event in batch.events:
            if isinstance(event, BlockStored):
                assert event.parent is None or event.parent in held
                held.update(event.hashes)
            elif isinstance(event, BlockRemoved):
                held.difference_update(event.hashes)
    assert core.pool.evicted
    assert len(held) == core.pool.cached
    assert all(core.pool.match([key], 1) for key in held)
    assert core.reset()
    core.add(Sequence("last", 4, 1), 0.0)
    step = core.schedule(0.0)
    assert step is not None
    batch = core.complete(step, 0.0).kv_events
    assert batch is not None
    assert batch.events == (AllBlocksCleared(),)
