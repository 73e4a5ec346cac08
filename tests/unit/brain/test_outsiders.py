"""Memory held for requests that others serve, seen from the dispatcher."""

from typing import Any

import pytest
from tests.support.driver import TestDriver

from pointsman.brain.model.errors import Conflict, ModelNotFound, NoMemory, NotFound
from pointsman.brain.model.outside import Allocation, MemoryWish
from pointsman.brain.outsiders import ENDED_KNOWN


def driver_of(*names: str, policy: str = "greedy", **node: Any) -> TestDriver:
    driver = TestDriver(policy, queue_timeout_s=1000.0)
    for name in names:
        driver.add(name, kv_tokens=1600, block_tokens=16, **node)
    return driver


def allocate(driver: TestDriver, tokens: int = 160, model: str = "m", **wish: Any) -> Allocation:
    return driver.dispatcher.allocate(MemoryWish(model=model, prompt_tokens=tokens, **wish), driver.now)


def reserved(driver: TestDriver, row: int = 0) -> float:
    return driver.dispatcher.placement.pool.account(row).reserved


def test_memory_is_held_as_a_request_would_hold_it_and_given_back() -> None:
    driver = driver_of("a")
    lease = allocate(driver, 150, output_tokens=20, ttl_s=30.0)
    assert (lease.node, lease.url, lease.blocks, lease.block_tokens, lease.ttl_s) == ("a", "http://a", 11, 16, 30.0)
    assert reserved(driver) == 11
    waiting = driver.submit(tokens=1500, max_tokens=8)
    assert waiting in driver.waiting
    driver.obey(driver.dispatcher.release(lease.lease, driver.now))
    assert driver.node(waiting) == "a"
    driver.rest()


def test_a_second_release_is_a_conflict_that_changes_nothing() -> None:
    driver = driver_of("a")
    first, second = allocate(driver), allocate(driver)
    driver.obey(driver.dispatcher.release(first.lease, driver.now))
    with pytest.raises(Conflict, match="was released already"):
        driver.dispatcher.release(first.lease, driver.now)
    assert reserved(driver) == second.blocks
    with pytest.raises(NotFound):
        driver.dispatcher.release("0", driver.now)


def test_a_lease_ends_by_itself_unless_it_is_renewed() -> None:
    driver = driver_of("a")
    lost, kept = allocate(driver, ttl_s=5.0), allocate(driver, ttl_s=5.0)
    driver.now = 4.0
    assert driver.dispatcher.renew(kept.lease, 10.0, 4.0).ttl_s == 10.0
    driver.tick(2.0)
    assert reserved(driver) == kept.blocks
    for call in (driver.dispatcher.release, lambda lease, now: driver.dispatcher.renew(lease, 1.0, now)):
        with pytest.raises(Conflict, match="expired already"):
            call(lost.lease, driver.now)
    driver.tick(10.0)
    assert reserved(driver) == 0
    driver.rest()


def test_the_node_is_the_one_of_greatest_utility_or_the_one_named() -> None:
    driver = driver_of("a", "b", "c")
    assert allocate(driver, 1600, node="b").node == "b"
    for _ in range(3):
        driver.submit(tokens=100, max_tokens=8)
    nodes = {allocate(driver).node for _ in range(2)}
    assert "b" not in nodes
    with pytest.raises(NoMemory):
        allocate(driver, node="b")
    driver.rest()


def test_what_is_no_good_wish_says_so() -> None:
    driver = driver_of("a")
    driver.add("other", "n")
    with pytest.raises(ModelNotFound):
        allocate(driver, model="x")
    for node in ("other", "nobody"):
        with pytest.raises(NotFound, match=node):
            allocate(driver, node=node)
    with pytest.raises(NoMemory, match="1601 tokens"):
        allocate(driver, 1601)
    assert reserved(driver) == 0


@pytest.mark.parametrize("layout", ["size_class", "buddy"])
def test_it_has_a_place_in_any_layout(layout: str) -> None:
    driver = driver_of("a", kv_layout=layout)
    lease = allocate(driver, 400)
    with pytest.raises(NoMemory):
        allocate(driver, 1500)
    driver.obey(driver.dispatcher.release(lease.lease, driver.now))
    driver.rest()


def test_a_lease_ends_with_its_node_whoever_comes_in_its_place() -> None:
    driver = driver_of("a")
    lease = allocate(driver)
    driver.obey(driver.dispatcher.remove_node("a", driver.now))
    driver.add("b", kv_tokens=1600, block_tokens=16)
    with pytest.raises(Conflict, match="ended with its node"):
        driver.dispatcher.renew(lease.lease, 5.0, driver.now)
    assert reserved(driver) == 0
    driver.rest()


def test_leases_that_have_ended_are_remembered_up_to_so_many() -> None:
    driver = driver_of("a")
    first = allocate(driver)
    driver.dispatcher.release(first.lease, driver.now)
    for _ in range(ENDED_KNOWN):
        driver.dispatcher.release(allocate(driver).lease, driver.now)
    with pytest.raises(NotFound):
        driver.dispatcher.release(first.lease, driver.now)


def test_leases_of_two_gateways_differ() -> None:
    one, other = driver_of("a"), TestDriver("greedy", seed=1)
    other.add("a", kv_tokens=1600, block_tokens=16)
    assert allocate(one).lease != allocate(other).lease
