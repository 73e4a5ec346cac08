"""Beginnings of prompts that nodes which obey keep, whatever else comes."""

import random

import msgspec
import pytest
from tests.support.driver import DONE, chain
from tests.support.obedient import ObedientDriver

from pointsman.brain.model.commands import Carried, Obeyed, Pin, Unpin
from pointsman.brain.model.errors import BadRequest, Conflict, NotFound
from pointsman.brain.model.orders import Instruct
from pointsman.brain.model.request import Request

SYSTEM = tuple(range(30))


def held(*steps: int) -> tuple[ObedientDriver, Request]:
    """A node of 100 blocks that has computed a prompt of these steps, and a request with that prompt."""
    driver = ObedientDriver()
    driver.add_obedient("a")
    ticket = driver.submit(tokens=16 * len(steps), chain=chain(*steps), max_tokens=16)
    driver.finish(driver.lease_of(ticket))
    return driver, request(*steps)


def request(*steps: int) -> Request:
    return Request(id="p", model="m", prompt_tokens=16 * len(steps), chain=chain(*steps))


def pin(driver: ObedientDriver, which: Request, *nodes: str, keep: bool = True) -> list[object]:
    """The commands that follow."""
    call = driver.dispatcher.pin if keep else driver.dispatcher.unpin
    orders = call(which, nodes, driver.now)
    driver.obey(orders)
    return [command for order in orders if isinstance(order, Instruct) for command in order.commands]


def crowd(driver: ObedientDriver) -> None:
    """Prompts that need all there is."""
    for group in range(1, 9):
        driver.tick(1.0)
        ticket = driver.submit(tokens=16 * 40, chain=chain(*range(1000 * group, 1000 * group + 40)), max_tokens=16)
        driver.finish(driver.lease_of(ticket))


def test_what_is_pinned_survives_until_it_is_unpinned() -> None:
    driver, system = held(*SYSTEM)
    links = tuple(system.chain.links) if system.chain is not None else ()
    assert pin(driver, system) == [Pin(links)]
    account = driver.dispatcher.placement.pool.account(0)
    assert (account.pinned, account.cached) == (30.0, 0.0)
    crowd(driver)
    assert set(links) <= driver.held["a"]
    assert pin(driver, system, keep=False) == [Unpin(links)]
    assert driver.dispatcher.placement.pool.account(0).pinned == 0.0
    crowd(driver)
    assert not set(links) & driver.held["a"]
    driver.rest()


def test_only_what_is_held_is_pinned_and_twice_is_once() -> None:
    driver, _ = held(*SYSTEM)
    longer = request(*SYSTEM, 99)
    assert pin(driver, longer, "a") == pin(driver, longer, "a") == [Pin(tuple(chain(*SYSTEM).links))]
    assert driver.dispatcher.placement.pool.pinned(0) == 30
    assert len(pin(driver, longer, keep=False)) == 1
    assert pin(driver, longer, keep=False) == []
    driver.rest()


def test_what_another_pin_needs_stays() -> None:
    driver, whole = held(*SYSTEM)
    part = request(*SYSTEM[:10])
    pin(driver, part)
    pin(driver, whole)
    assert pin(driver, part, keep=False) == []
    assert driver.dispatcher.placement.pool.pinned(0) == 30
    driver.rest()


def test_a_node_that_restarts_has_nothing_pinned() -> None:
    driver, system = held(*SYSTEM)
    pin(driver, system)
    driver.report("a", obeys=True, running=0, started_at=1.0)
    driver.held["a"].clear()
    driver.report("a", obeys=True, running=0, started_at=2.0)
    assert driver.dispatcher.placement.pool.pinned(0) == 0
    driver.rest()


def test_what_cannot_be_pinned_is_refused_and_changes_nothing() -> None:
    driver, system = held(*SYSTEM)
    driver.add("b", kv_tokens=1600)
    with pytest.raises(NotFound, match="'c'"):
        pin(driver, system, "c")
    with pytest.raises(Conflict, match="commanded"):
        pin(driver, system, "b")
    with pytest.raises(Conflict, match="/cache/warm"):
        pin(driver, request(7, 8, 9))
    with pytest.raises(BadRequest, match="too short"):
        pin(driver, msgspec.structs.replace(system, chain=None))
    assert driver.dispatcher.placement.pool.pinned(0) == 0
    driver.rest()


def test_whatever_is_pinned_the_account_is_kept() -> None:
    draw = random.Random(3)
    driver, _ = held(*SYSTEM)
    for _ in range(400):
        driver.tick(0.1)
        steps = (*SYSTEM[: draw.randrange(1, 31)], *(draw.randrange(6) for _ in range(draw.randrange(6))))
        act = draw.random()
        if act < 0.4:
            driver.submit(tokens=16 * len(steps), chain=chain(*steps), max_tokens=32)
        elif act < 0.7 and driver.running:
            driver.finish(draw.choice(sorted(driver.running)), DONE)
        elif act < 0.75:
            pin(driver, request(*steps), keep=False)
        elif len(driver.commanded("a").owner) and driver.dispatcher.placement.index.depth(0, chain(*steps).links):
            pin(driver, request(*steps))
        pinned = {link for kept in driver.dispatcher.placement.pinning._pins.get(0, {}).values() for link in kept}
        assert pinned <= driver.held["a"]
        assert driver.dispatcher.placement.pool.pinned(0) == len(pinned)
    pin(driver, request(*SYSTEM), keep=False)
    driver.rest()


def answered(driver: ObedientDriver, which: Request, done: Carried, lost: tuple[int, ...] = ()) -> None:
    """Pin it where the node answers so."""
    (order,) = (each for each in driver.dispatcher.pin(which, (), driver.now) if isinstance(each, Instruct))
    driver.held["a"] -= set(lost)
    driver.dispatcher.obeyed(Obeyed(number=order.number, ok=True, done=(done,), lost=lost), driver.now)
    driver.known()


def test_what_the_node_had_lost_already_is_not_kept() -> None:
    """It would be counted as taken, and foretold as a hit, for as long as the node lives."""
    driver, system = held(*SYSTEM)
    links = chain(*SYSTEM).links
    answered(driver, system, Carried(blocks=20, unknown=10), tuple(links[:19:-1]))
    assert driver.dispatcher.placement.pool.account(0).pinned == 20.0
    crowd(driver)
    assert set(links[:20]) <= driver.held["a"], "what came before that is kept"
    assert pin(driver, system, keep=False) == [Unpin(tuple(links[:20]))]
    assert driver.dispatcher.placement.pool.account(0).pinned == 0.0
    crowd(driver)
    driver.rest()


def test_what_the_node_knows_nothing_of_is_not_kept() -> None:
    driver, system = held(*SYSTEM)
    answered(driver, system, Carried(unknown=30))
    assert driver.dispatcher.placement.pool.account(0).pinned == 0.0
    assert pin(driver, system, keep=False) == []
    crowd(driver)
    assert not set(chain(*SYSTEM).links) & driver.held["a"]
    driver.rest()


def test_of_two_that_share_what_was_lost_each_keeps_what_it_can() -> None:
    driver, system = held(*SYSTEM)
    shorter = request(*SYSTEM[:12])
    assert pin(driver, shorter)
    links = chain(*SYSTEM).links
    answered(driver, system, Carried(blocks=8, unknown=22), tuple(links[:7:-1]))
    assert driver.dispatcher.placement.pool.account(0).pinned == 8.0
    assert pin(driver, shorter, keep=False) == [Unpin(tuple(links[:8]))]
    assert driver.dispatcher.placement.pool.account(0).pinned == 0.0
    driver.rest()
