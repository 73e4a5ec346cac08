from typing import Any

import msgspec
from tests.support.driver import FAILED, TestDriver, chain

from pointsman.observe.memory import holdings, memory


def driver_of(*nodes: str, **more: Any) -> TestDriver:
    """Nodes of 64 blocks of 16 tokens under `greedy`, which reserves all of max_tokens."""
    driver = TestDriver("greedy", output_quantile=1.0)
    for name in nodes:
        driver.add(name, **({"kv_tokens": 1024} | more))
    return driver


def test_every_block_is_reserved_cached_or_free() -> None:
    driver = driver_of("a", "b")
    driver.submit(tokens=100, max_tokens=20, chain=chain(1, 2, 3, 4, 5))
    told = memory(driver.dispatcher)
    (used,) = (node for node in told.nodes if node.reserved)
    assert (used.capacity, used.reserved, used.free, used.queued) == (64, 8, 64 - 8 - used.cached, 0)
    assert used.cached > 0
    assert used.unused_tokens == 8 * 16 - 120
    fleet = told.fleet
    assert fleet.reserved + fleet.cached + fleet.free == fleet.capacity == 2048
    assert fleet.largest == 1024
    assert msgspec.json.decode(msgspec.json.encode(told))["nodes"][0]["mode"] == "believed"


def test_enough_in_sum_and_too_little_on_any_node_blocks() -> None:
    driver = driver_of("a", "b")
    for _ in range(2):
        driver.submit(tokens=500, max_tokens=100)
    driver.submit(tokens=600, max_tokens=100)
    driver.submit(tokens=1000, max_tokens=20)
    told = memory(driver.dispatcher).fleet
    assert (told.free, told.largest) == (52 * 16, 26 * 16)
    assert told.fragmentation == 0.5
    assert told.blocked == 1, "the larger one would not fit in sum either"


def test_slabs_fragment_within_a_node() -> None:
    driver = driver_of("a", kv_layout="buddy")
    tickets = [driver.submit(tokens=127, max_tokens=1) for _ in range(8)]
    for ticket in tickets[::2]:
        driver.finish(driver.lease_of(ticket))
    (node,) = memory(driver.dispatcher).nodes
    assert (node.free, node.largest, node.fragmentation) == (32, 8, 0.75)
    driver.submit(tokens=65, max_tokens=1)
    assert memory(driver.dispatcher).nodes[0].unused_tokens == 8 * 16 - 66


def test_what_is_unknown_is_null_and_not_in_the_sum() -> None:
    driver = driver_of("a", kv_tokens=None)
    driver.submit(tokens=100, max_tokens=20)
    (node,) = memory(driver.dispatcher).nodes
    assert (node.capacity, node.free, node.largest, node.reserved) == (None, None, None, 8)
    assert memory(driver.dispatcher).fleet.capacity == 0
    assert memory(driver.dispatcher).fleet.fragmentation == 0.0


def test_requests_tell_what_they_hold_or_their_place_in_the_queue() -> None:
    driver = driver_of("a")
    first = driver.submit(tokens=600, max_tokens=100, tenant="t", priority=2.0)
    for _ in range(2):
        driver.submit(tokens=600, max_tokens=100)
    driver.now += 2.0
    driver.first_token(driver.lease_of(first))
    driver.obey(driver.dispatcher.tokens(driver.lease_of(first), 3, driver.now))
    running, *waiting = holdings(driver.dispatcher, driver.now)
    assert (running.node, running.position, running.blocks, running.output_tokens) == ("a", None, 44, 3)
    assert (running.tenant, running.priority, running.reserved_tokens, running.since_s) == ("t", 2.0, 700, 2.0)
    assert [(each.node, each.position, each.blocks) for each in waiting] == [(None, 1, 0), (None, 2, 0)]


def test_a_request_that_failed_and_waits_again_holds_nothing() -> None:
    driver = driver_of("a", "b")
    failed, *_ = [driver.submit(tokens=600, max_tokens=100) for _ in range(2)]
    where = driver.node(failed)
    driver.finish(driver.lease_of(failed), FAILED)
    told = {each.request_id: each for each in holdings(driver.dispatcher, driver.now)}
    assert (told["r1"].node, told["r1"].position, told["r1"].blocks) == (None, 1, 0)
    reserved = {node.node: node.reserved for node in memory(driver.dispatcher).nodes}
    assert reserved[where] == 0
