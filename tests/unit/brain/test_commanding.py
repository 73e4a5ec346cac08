"""Nodes that obey, seen from the dispatcher: what they are told, and what is known of them."""

import random

import msgspec
import pytest
from tests.support.driver import DONE, FAILED, chain
from tests.support.obedient import ObedientDriver

from pointsman.brain.model.cache_settings import CacheSettings
from pointsman.brain.model.commands import Obeyed, Unpin
from pointsman.brain.model.facts import Instructed, ResidencyChanged
from pointsman.brain.model.node import NodeState


def one_node(**more: object) -> tuple[ObedientDriver, list[object]]:
    facts: list[object] = []
    driver = ObedientDriver(cache=CacheSettings(**more))  # type: ignore[arg-type]
    driver.dispatcher.subscribe({ResidencyChanged: facts.append, Instructed: facts.append})
    driver.add_obedient("a")
    return driver, facts


def ask(driver: ObedientDriver, *steps: int, output: int = 16) -> int:
    """A prompt of one block a link; its ticket."""
    return driver.submit(tokens=16 * len(steps), chain=chain(*steps), max_tokens=output)


def test_a_node_is_commanded_when_its_engine_says_that_it_obeys() -> None:
    driver, facts = one_node()
    assert facts[0] == ResidencyChanged(0.0, "a", "commanded", "its engine obeys")
    assert isinstance(facts[1], Instructed)
    assert facts[1].commands == (Unpin(()),), "what an earlier gateway pinned"
    driver.rest()


def test_one_that_takes_no_orders_is_believed_and_that_is_told_once() -> None:
    driver, facts = ObedientDriver(), []
    driver.dispatcher.subscribe({ResidencyChanged: facts.append})
    driver.add("a", residency="commanded", kv_tokens=1600)
    for _ in range(3):
        driver.report("a", obeys=False, running=0)
    driver.report("a", running=0)
    assert facts == [ResidencyChanged(0.0, "a", "believed", "its engine takes no orders")]
    driver.finish(driver.lease_of(ask_plain(driver)))
    driver.rest()


def ask_plain(driver: ObedientDriver) -> int:
    return driver.submit(tokens=100, chain=chain(1, 2), max_tokens=4)


def test_where_other_gateways_stand_before_it_nobody_commands() -> None:
    driver, facts = ObedientDriver(gateways=2), []
    driver.dispatcher.subscribe({ResidencyChanged: facts.append})
    driver.add("a", residency="commanded", kv_tokens=1600)
    driver.report("a", obeys=True, running=0)
    assert [fact.residency for fact in facts] == ["believed"]


def test_what_does_not_fit_beside_a_request_is_evicted_the_oldest_first() -> None:
    driver, _ = one_node()
    for group in range(3):
        driver.finish(driver.lease_of(ask(driver, *range(100 * group, 100 * group + 30))))
        driver.tick(1.0)
    assert len(driver.held["a"]) == 90
    ask(driver, *range(1000, 1020))
    assert len(driver.held["a"]) == 97 - 1, "one block of the answer is no link"
    assert set(chain(*range(200, 230)).links) <= driver.held["a"]
    assert not set(chain(*range(30)).links) <= driver.held["a"]
    driver.rest()


def test_what_prompts_share_is_counted_once_and_stays_while_they_run() -> None:
    driver, _ = one_node()
    tickets = [ask(driver, *range(40), 500 + number) for number in range(5)]
    assert len(driver.held["a"]) == 45
    assert driver.dispatcher.fleet.cells.kv_reserved[0] == 5 * 42
    for ticket in tickets:
        driver.finish(driver.lease_of(ticket))
    ask(driver, *range(2000, 2090))
    assert len(driver.held["a"]) <= 97
    driver.rest()


def test_a_prompt_that_failed_is_evicted_where_it_was_not_held_before() -> None:
    driver, _ = one_node()
    driver.finish(driver.lease_of(ask(driver, 1, 2)))
    driver.finish(driver.lease_of(ask(driver, 1, 2, 3, 4)), FAILED)
    assert driver.held["a"] == set(chain(1, 2).links)
    driver.rest()


def test_what_an_engine_lost_unasked_is_not_held_any_more() -> None:
    driver, facts = one_node()
    driver.finish(driver.lease_of(ask(driver, 1, 2, 3)))
    driver.mute = True
    driver.finish(driver.lease_of(ask(driver, 5, 6)), FAILED)
    end = chain(1, 2, 3).links[-1]
    driver.held["a"].discard(end)
    number = driver.dispatcher.placement.commanding._numbers
    driver.obey(driver.dispatcher.obeyed(Obeyed(number=number, ok=True, lost=(end, 77)), driver.now))
    assert driver.dispatcher.placement.index.depth(0, chain(1, 2, 3).links) == 2
    assert isinstance(facts[-1], Instructed)
    assert facts[-1].lost == 2
    driver.rest()


def test_a_node_that_fails_an_order_is_believed_with_what_it_had_and_commanded_again_later() -> None:
    driver, facts = one_node()
    driver.finish(driver.lease_of(ask(driver, *range(90))))
    driver.mute = True
    ask(driver, *range(500, 520))
    number = driver.dispatcher.placement.commanding._numbers
    driver.mute = False
    driver.obey(driver.dispatcher.obeyed(Obeyed(number=number, ok=False, reason="timeout"), driver.now))
    assert facts[-1] == ResidencyChanged(0.0, "a", "believed", "an order failed (timeout)")
    index = driver.dispatcher.placement.index
    assert index.depth(0, chain(*range(500, 520)).links) == 20
    assert index.held(0) == len(driver.held["a"])
    driver.report("a", obeys=True, running=1)
    assert not driver.dispatcher.placement.commanding.on
    driver.held["a"].clear()
    driver.tick(31.0)
    driver.report("a", obeys=True, running=1)
    assert driver.dispatcher.placement.commanding.residency(0) == "commanded"
    driver.rest()


def test_a_node_that_restarted_holds_nothing() -> None:
    driver, _ = one_node()
    driver.report("a", obeys=True, running=0, started_at=1.0)
    ticket = ask(driver, 1, 2, 3)
    driver.held["a"].clear()
    driver.report("a", obeys=True, running=0, started_at=2.0)
    assert driver.dispatcher.placement.index.held(0) == 0
    driver.finish(driver.lease_of(ticket))
    driver.rest()


@pytest.mark.parametrize("started_at", [None, 1.0])
def test_one_that_was_down_is_empty_unless_it_tells_that_it_was_not_restarted(started_at: float | None) -> None:
    driver, facts = ObedientDriver(), []
    driver.add_obedient("a", started_at=started_at)
    driver.finish(driver.lease_of(ask(driver, 1, 2, 3)))
    driver.dispatcher.subscribe({Instructed: facts.append})
    for _ in range(9):
        driver.report("a", ok=False, reason="refused")
    assert driver.dispatcher.fleet.states[0] is NodeState.DOWN
    driver.held["a"] &= set() if started_at is None else set(chain(1, 2, 3).links)
    for _ in range(9):
        driver.report("a", obeys=True, running=0, started_at=started_at)
    if started_at is None:
        assert driver.dispatcher.placement.index.held(0) == 0
        assert [fact.commands for fact in facts] == [(Unpin(()),)]
    else:
        assert driver.dispatcher.placement.index.held(0) == 3
    assert driver.dispatcher.placement.commanding.obeys(0)
    driver.rest()


def test_a_node_declared_otherwise_is_commanded_no_more() -> None:
    driver, facts = one_node()
    spec = driver.dispatcher.fleet.spec(0)
    driver.obey(driver.dispatcher.declare_node(msgspec.structs.replace(spec, residency="believed"), 0.0))
    assert not driver.dispatcher.placement.commanding.on
    assert isinstance(facts[-1], ResidencyChanged)
    driver.rest()


@pytest.mark.parametrize("rule", ["lru", "lfu", "gdsf", "reuse"])
def test_whatever_comes_what_a_node_holds_is_known_and_fits(rule: str) -> None:
    draw = random.Random(5)
    driver, _ = one_node(eviction=rule)
    driver.add_obedient("b", blocks=60)
    for _ in range(400):
        driver.tick(draw.random())
        if draw.random() < 0.55 or not driver.running:
            group, length = draw.randrange(4), draw.randrange(1, 12)
            ask(driver, *(10 * group + step // 4 for step in range(length)), draw.randrange(50), output=40)
        else:
            lease = draw.choice(sorted(driver.running))
            driver.finish(lease, FAILED if draw.random() < 0.1 else DONE)
        for row, name in enumerate(("a", "b")):
            cells, commanding = driver.dispatcher.fleet.cells, driver.dispatcher.placement.commanding
            private = cells.kv_reserved[row] - commanding._covered[row]
            free = [block for block in driver.commanded(name).tree._blocks.values() if not block.children]
            assert private + len(driver.held[name]) <= 0.97 * cells.kv_capacity[row] or not free
    driver.rest()
