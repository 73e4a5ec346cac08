"""What the scheduler does in a step, and what must hold whatever it is asked."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.brain.costs.step_time import Linear
from pointsman.engine.core import Core, Limits, Step
from pointsman.engine.sequence import Sequence, Status
from pointsman.engine.swap import Tier

TIMING = Linear(base=0.01, per_sequence=0.001, prefill_tokens_per_second=10_000)


def make_core(**limits: int | bool) -> Core:
    return Core(Limits(**{"blocks": 100, "block_size": 4, **limits}), TIMING)  # type: ignore[arg-type]


def step(core: Core, now: float = 0.0) -> Step:
    scheduled = core.schedule(now)
    assert scheduled is not None
    return scheduled


def work(scheduled: Step) -> dict[str, int]:
    return {sequence.key: tokens for sequence, tokens in scheduled.work}


def run_step(core: Core, now: float = 0.0) -> dict[str, int]:
    scheduled = step(core, now)
    core.complete(scheduled, now)
    return work(scheduled)


def test_a_prompt_is_prefilled_in_chunks_and_then_decodes() -> None:
    core = make_core(max_num_batched_tokens=8)
    sequence = Sequence("a", 20, 3)
    core.add(sequence, 0.0)
    assert [run_step(core)["a"] for _ in range(5)] == [8, 8, 4, 1, 1]
    assert sequence.status is Status.DONE
    assert sequence.generated == 3
    assert core.schedule(0.0) is None
    assert core.pool.free == 100


def test_running_sequences_come_first_and_the_rest_of_the_budget_prefills() -> None:
    core = make_core(max_num_batched_tokens=8)
    core.add(Sequence("a", 4, 9), 0.0)
    run_step(core)
    core.add(Sequence("b", 20, 9), 0.0)
    assert run_step(core) == {"a": 1, "b": 7}
    assert run_step(core) == {"a": 1, "b": 7}
    assert run_step(core) == {"a": 1, "b": 6}
    assert run_step(core) == {"a": 1, "b": 1}


def test_the_first_token_comes_when_the_last_chunk_ends() -> None:
    core = make_core(max_num_batched_tokens=8)
    sequence = Sequence("a", 12, 2)
    core.add(sequence, 0.0)
    assert core.complete(step(core), 1.0).emitted == []
    assert core.complete(step(core), 2.0).emitted == [sequence]
    assert sequence.first_token_at == 2.0


def test_a_step_takes_the_time_of_what_it_computes() -> None:
    core = make_core()
    core.add(Sequence("a", 50, 2), 0.0)
    assert step(core, 7.0).ends == pytest.approx(7.0 + 0.01 + 50 / 10_000)


def test_slowdown_multiplies_the_next_step() -> None:
    core = make_core()
    core.add(Sequence("a", 50, 2), 0.0)
    core.slowdown = 3.0
    assert step(core).seconds == pytest.approx(3 * (0.01 + 50 / 10_000))


def test_max_num_seqs_bounds_the_batch() -> None:
    core = make_core(max_num_seqs=2)
    for key in "abc":
        core.add(Sequence(key, 4, 2), 0.0)
    assert set(run_step(core)) == {"a", "b"}
    assert core.waiting == 1
    run_step(core)
    assert set(run_step(core)) == {"c"}


def test_a_shared_prefix_is_computed_once_even_within_a_step() -> None:
    core = make_core()
    first, second = Sequence("a", 10, 2, [11, 12]), Sequence("b", 10, 2, [11, 12])
    core.add(first, 0.0)
    core.add(second, 0.0)
    assert run_step(core) == {"a": 10, "b": 2}
    assert (first.cached_tokens, second.cached_tokens) == (0, 8)
    assert (core.totals.prefix_queries, core.totals.prefix_hits) == (20, 8)


def test_the_last_token_of_a_fully_cached_prompt_is_computed() -> None:
    core = make_core()
    core.add(Sequence("a", 8, 1, [11, 12]), 0.0)
    run_step(core)
    core.add(Sequence("b", 8, 1, [11, 12]), 0.0)
    assert run_step(core) == {"b": 4}


def test_generated_tokens_enter_the_cache_once_their_hash_is_known() -> None:
    core = make_core()
    sequence = Sequence("a", 4, 9, [11])
    core.add(sequence, 0.0)
    for _ in range(5):
        run_step(core)
        if sequence.generated == 4:
            sequence.hashes.append(12)
    assert core.pool.match([11, 12], 2) == 2


def test_when_blocks_run_out_the_last_admitted_starts_over() -> None:
    core = make_core(blocks=5)
    first, second = Sequence("a", 8, 9), Sequence("b", 8, 4)
    core.add(first, 0.0)
    core.add(second, 0.0)
    run_step(core)  # both hold two blocks, one is free
    scheduled = step(core)  # a takes the last block; b finds none and is its own victim
    assert work(scheduled) == {"a": 1}
    assert scheduled.preempted == [second]
    core.complete(scheduled, 0.0)
    assert core.totals.preemptions == 1
    while core.running or core.waiting:
        run_step(core)
    assert (first.generated, second.generated) == (9, 4)


def test_a_victim_does_not_compute_in_the_step_that_takes_its_blocks() -> None:
    core = make_core(blocks=4)
    core.add(Sequence("a", 8, 8), 0.0)
    core.add(Sequence("b", 8, 8), 0.0)
    run_step(core)
    scheduled = step(core)
    assert work(scheduled) == {"a": 1}
    assert [sequence.key for sequence in scheduled.preempted] == ["b"]


def test_a_preempted_sequence_keeps_what_it_generated() -> None:
    core = make_core(blocks=5)
    core.add(Sequence("a", 8, 8), 0.0)
    second = Sequence("b", 7, 8)
    core.add(second, 0.0)
    run_step(core)
    run_step(core)
    run_step(core)
    assert second.status is Status.WAITING
    assert second.generated > 0
    before = second.generated
    while second.status is Status.WAITING:
        run_step(core)
    assert second.generated in (before, before + 1)


def test_a_preempted_sequence_goes_on_where_it_was_if_its_blocks_were_copied_away() -> None:
    limits = Limits(blocks=5, block_size=4, tiers=(Tier(100, 0.0002),))
    core = Core(limits, TIMING)
    first, second = Sequence("a", 8, 9), Sequence("b", 8, 4)
    core.add(first, 0.0)
    core.add(second, 0.0)
    run_step(core)
    scheduled = step(core)
    assert scheduled.preempted == [second]
    assert scheduled.seconds == pytest.approx(0.011 + 2 * 0.0002), "b's two blocks are copied out"
    core.complete(scheduled, 0.0)
    while second.status is Status.WAITING:
        scheduled = step(core)
        core.complete(scheduled, 0.0)
    assert work(scheduled) == {"b": 1}, "a is through, and nothing of b is computed again"
    assert scheduled.seconds == pytest.approx(0.011 + 2 * 0.0002)
    while second.status is Status.RUNNING:
        run_step(core)
    assert (second.generated, core.swap.blocks_out, core.swap.blocks_in) == (4, 2, 2)


def test_an_abort_gives_up_what_was_copied_away() -> None:
    core = Core(Limits(blocks=5, block_size=4, tiers=(Tier(2, 0.0002),)), TIMING)
    first, second = Sequence("a", 8, 9), Sequence("b", 8, 4)
    core.add(first, 0.0)
    core.add(second, 0.0)
    run_step(core)
    run_step(core)
    assert second.parked is not None
    assert core.swap.park(8, 1.0) is None, "there is no room left"
    core.abort(second, 0.0)
    assert core.swap.park(8, 1.0) is not None


def test_priority_decides_who_is_admitted_and_who_is_the_victim() -> None:
    core = make_core(blocks=5, by_priority=True, max_num_seqs=2)
    core.add(Sequence("late", 8, 9, priority=5), 0.0)
    core.add(Sequence("urgent", 8, 9, priority=1), 0.0)
    core.add(Sequence("last", 4, 9, priority=9), 0.0)
    assert list(work(step_and_complete(core))) == ["urgent", "late"]
    scheduled = step_and_complete(core)
    assert [sequence.key for sequence in scheduled.preempted] == ["late"]
    assert "urgent" in work(scheduled)


def test_the_others_go_on_when_the_first_is_the_least_urgent() -> None:
    core = make_core(blocks=4, by_priority=True)
    core.add(Sequence("low", 8, 5, priority=5), 0.0)
    run_step(core)
    core.add(Sequence("high", 4, 5, priority=0), 0.0)
    seen = [run_step(core) for _ in range(5)]
    assert all("high" in batch for batch in seen)


def step_and_complete(core: Core) -> Step:
    scheduled = step(core)
    core.complete(scheduled, 0.0)
    return scheduled


def test_an_abort_during_a_step_ends_the_sequence_at_once() -> None:
    core = make_core()
    sequence = Sequence("a", 8, 5)
    core.add(sequence, 0.0)
    scheduled = step(core)
    assert core.abort(sequence, 0.5)
    assert core.pool.free == 100
    assert core.complete(scheduled, 1.0).emitted == []
    assert not core.abort(sequence, 2.0)


def test_an_abort_while_waiting_is_forgotten() -> None:
    core = make_core(max_num_seqs=1)
    first, second = Sequence("a", 4, 2), Sequence("b", 4, 2)
    core.add(first, 0.0)
    core.add(second, 0.0)
    run_step(core)
    assert core.abort(second, 0.0)
    assert core.waiting == 0
    run_step(core)
    assert core.schedule(0.0) is None


def test_what_can_never_fit_is_refused() -> None:
    core = make_core(blocks=2)
    core.add(Sequence("fits", 5, 4), 0.0)
    with pytest.raises(ValueError, match="exceed the KV cache of 8"):
        core.add(Sequence("never", 5, 5), 0.0)
    assert core.waiting == 1


def test_reset_needs_an_idle_engine() -> None:
    core = make_core()
    core.add(Sequence("a", 8, 1, [1, 2]), 0.0)
    assert not core.reset()
    run_step(core)
    assert core.pool.cached == 2
    assert core.reset()
    assert core.pool.cached == 0
    assert core.totals.steps == 0


REQUESTS = st.lists(
    st.tuples(st.integers(1, 30), st.integers(1, 12), st.integers(0, 2), st.integers(0, 2), st.booleans()),
    min_size=1,
    max_size=12,
)


@settings(max_examples=150)
@given(requests=REQUESTS, budget=st.integers(1, 16), seqs=st.integers(1, 5), by_priority=st.booleans())
def test_everything_ends_and_every_block_comes_back(
    requests: list[tuple[int, int, int, int, bool]], budget: int, seqs: int, by_priority: bool
) -> None:
    core = make_core(blocks=11, max_num_batched_tokens=budget, max_num_seqs=seqs, by_priority=by_priority)
    sequences = []
    for number, (prompt, answer, family, priority, _) in enumerate(requests):
        hashes = [family * 1000 + position for position in range(prompt // 4)]
        sequences.append(Sequence(str(number), prompt, answer, hashes, priority))
        core.add(sequences[-1], 0.0)
    doomed = [sequence for sequence, request in zip(sequences, requests, strict=True) if request[4]]
    for now in range(3000):
        scheduled = core.schedule(float(now))
        if scheduled is None:
            break
        assert sum(work(scheduled).values()) <= budget
        assert core.running <= seqs
        if doomed and now % 3 == 2:
            core.abort(doomed.pop(), float(now))
        core.complete(scheduled, now + 1.0)
        assert core.kv_usage <= 1.0
    assert core.running == core.waiting == 0
    assert core.pool.free == core.pool.total
    for sequence, request in zip(sequences, requests, strict=True):
        assert sequence.status is Status.DONE
        assert sequence.generated == request[1] or request[4]
