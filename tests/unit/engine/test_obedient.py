"""A pool that evicts what it is told to: orders, pins, names, and a model-based check that no block is lost."""

import random

import pytest

from pointsman.brain.costs.step_time import Linear
from pointsman.brain.model.commands import Carried, Evict, Pin, SwapOut, Unpin
from pointsman.engine.core import Core, Limits
from pointsman.engine.obedient import ObedientPool
from pointsman.engine.sequence import Sequence
from pointsman.engine.swap import Tier


def filled(total: int, *chains: tuple[int, ...]) -> ObedientPool:
    """A pool whose cache holds these chains, block `k` under the link `100 + k`."""
    pool = ObedientPool(total)
    for chain in chains:
        held = pool.match(list(chain), len(chain))
        pool.share(list(chain[:held]))
        pool.take(len(chain) - held)
        for position in range(held, len(chain)):
            assert pool.claim(chain[position])
            pool.publish(chain[position])
            pool.link_up(chain[position], chain[position - 1] if position else None)
            pool.name(chain[position], 100 + chain[position])
        pool.release(reversed(chain))
    return pool


def test_what_is_ordered_goes_and_nothing_else() -> None:
    pool = filled(6, (1, 2, 3), (7, 8))
    assert pool.evict((103, 102)) == Carried(blocks=2)
    assert (pool.match([1, 2, 3], 3), pool.match([7, 8], 2)) == (1, 2)
    assert (pool.free, pool.cached) == (6, 3)
    assert pool.evict((103,)) == Carried(unknown=1)


def test_with_a_block_goes_all_that_follows_it() -> None:
    pool = filled(6, (1, 2, 3), (1, 2, 4))
    assert pool.evict((102,)) == Carried(blocks=3)
    assert pool.cached == 1


def test_what_is_in_use_stays() -> None:
    pool = filled(4, (1, 2, 3))
    pool.share([1, 2])
    assert pool.evict((103, 102, 101)) == Carried(blocks=1, in_use=2)
    pool.release([2, 1])
    assert pool.evict((102, 101)) == Carried(blocks=2)


def test_what_is_pinned_is_neither_evicted_nor_taken() -> None:
    pool = filled(4, (1, 2, 3))
    assert pool.pin((101, 102)) == Carried(blocks=2)
    assert (pool.free, pool.pinned) == (2, 2)
    assert pool.evict((103, 102)) == Carried(blocks=1, in_use=1)
    pool.take(2)
    assert pool.match([1, 2, 3], 3) == 2
    assert pool.unpin((101, 102, 105)) == Carried(blocks=2, unknown=1)
    assert (pool.free, pool.pinned) == (2, 0)


def test_only_a_whole_beginning_is_pinned() -> None:
    assert filled(4, (1, 2, 3)).pin((102, 103, 109)) == Carried(unknown=3)


def test_blank_blocks_and_those_without_a_name_are_taken_first() -> None:
    pool = filled(5, (1, 2))
    pool.take(1)
    assert pool.claim(9)
    pool.publish(9)
    pool.release([9])
    pool.take(3)
    assert (pool.match([1, 2], 2), pool.match([9], 1)) == (2, 0)
    assert pool.take_lost() == ()
    pool.take(1)  # an order would have been due: the end of the chain goes
    assert pool.match([1, 2], 2) == 1
    assert pool.take_lost() == (102,)
    assert pool.take_lost() == ()


def test_a_link_that_is_held_again_is_not_lost() -> None:
    pool = filled(2, (1, 2))
    pool.take(1)
    pool.release([-1])
    pool.share([1])
    pool.take(1)
    assert pool.claim(2)
    pool.publish(2)
    pool.name(2, 102)
    assert pool.take_lost() == ()


def test_no_block_is_lost_whatever_is_ordered() -> None:
    draw = random.Random(4)
    pool = ObedientPool(12)
    held: list[list[int]] = []
    for _ in range(3000):
        chain = [draw.randrange(3), *(draw.randrange(3) + 3 * depth for depth in range(1, draw.randrange(1, 6)))]
        keys = [hash(tuple(chain[: depth + 1])) & (1 << 62) - 1 for depth in range(len(chain))]
        hits = keys[: pool.match(keys, len(keys))]
        if draw.random() < 0.5 and pool.can_hold(hits, len(keys) - len(hits)):
            pool.share(hits)
            pool.take(len(keys) - len(hits))
            for at in range(len(hits), len(keys)):
                assert pool.claim(keys[at])
                pool.publish(keys[at])
                pool.link_up(keys[at], keys[at - 1] if at else None)
                pool.name(keys[at], keys[at])
            held.append(keys)
        elif held and draw.random() < 0.5:
            pool.release(reversed(held.pop(draw.randrange(len(held)))))
        else:
            order = draw.choice((pool.evict, pool.evict, pool.pin, pool.unpin))
            order(keys if order is not pool.evict else keys[::-1])
        used = {key for chain in held for key in chain}
        assert pool.total - pool.free >= len(used)
        assert pool.free == sum(pool._queue.values()) + len(pool._named)
        assert all(pool.match(chain, len(chain)) == len(chain) for chain in held)
    assert pool.evicted > 100


LIMITS = Limits(blocks=8, block_size=4, obeys=True, tiers=(Tier(8, 0.001),))


def core_with(*sequences: Sequence) -> Core:
    core = Core(LIMITS, Linear(0.01, 0.0, 10_000))
    for sequence in sequences:
        core.add(sequence, 0.0)
    return core


def sequence(key: str, hashes: list[int], links: tuple[int, ...], output: int = 2) -> Sequence:
    one = Sequence(key, 4 * len(hashes), output, hashes)
    one.links, one.request = links, key
    return one


def step(core: Core) -> float:
    scheduled = core.schedule(0.0)
    assert scheduled is not None
    core.complete(scheduled, scheduled.ends)
    return scheduled.seconds


def test_a_core_names_the_blocks_of_a_prompt_by_its_links() -> None:
    core = core_with(sequence("a", [1, 2, 3, 4], (50, 51)))
    step(core)
    step(core)
    assert core.carry_out(Evict((51,))) == Carried(blocks=2)
    assert core.pool.match([1, 2, 3, 4], 4) == 2
    assert core.carry_out(Pin((50,))) == Carried(blocks=2)
    assert core.carry_out(Unpin((50,))) == Carried(blocks=2)


def test_an_answer_that_becomes_part_of_a_prompt_gets_its_name_then() -> None:
    first = sequence("a", [1, 2], (50, 51), output=5)
    core = core_with(first)
    step(core)
    first.hashes.append(3)
    for _ in range(4):
        step(core)
    assert core.pool.match([1, 2, 3], 3) == 3
    assert core.carry_out(Evict((52,))) == Carried(unknown=1)
    core.add(sequence("b", [1, 2, 3, 4], (50, 51, 52, 53)), 0.0)
    step(core)
    step(core)
    assert core.carry_out(Evict((53, 52))) == Carried(blocks=2)


def test_a_request_swapped_out_is_copied_back_where_it_is_asked_for_again() -> None:
    victim = sequence("victim", [1, 2, 3, 4], (50, 51, 52, 53), output=9)
    core = core_with(victim)
    step(core)
    assert core.carry_out(SwapOut("nobody")) == Carried(unknown=1)
    assert core.carry_out(SwapOut("victim")) == Carried(blocks=4)
    assert step(core) == pytest.approx(0.01 + 4 * 0.001), "copying makes the step longer"
    core.abort(victim, 0.0)
    assert core.carry_out(Evict((53, 52, 51, 50))) == Carried(blocks=4)
    core.add(again := sequence("victim", [1, 2, 3, 4, 5], (50, 51, 52, 53, 54)), 0.0)
    assert step(core) == pytest.approx(0.01 + 0.0004 + 4 * 0.001, rel=0.1)
    assert again.cached_tokens == 16
    assert core.swap.shelved == 0


def test_a_core_that_does_not_obey_says_so() -> None:
    core = Core(Limits(blocks=8, block_size=4), Linear(0.01, 0.0, 10_000))
    with pytest.raises(ValueError, match="no orders"):
        core.carry_out(Evict((1,)))
