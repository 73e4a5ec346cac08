"""Hot prefixes sent to idle nodes, seen from the dispatcher."""

import pytest
from tests.support.driver import TestDriver, chain

from pointsman.brain.model.cache_settings import CacheSettings
from pointsman.brain.model.facts import Warmed
from pointsman.brain.model.settings import BrainSettings

SYSTEM = tuple(range(40))
"""The beginning of all prompts here: 640 tokens."""
WARM = CacheSettings(warm_nodes=2)


def driver_of(*names: str, cache: CacheSettings = WARM, **settings: object) -> TestDriver:
    driver = TestDriver("prefix_affinity", cache=cache, **settings)
    for name in names:
        driver.add(name, kv_tokens=160_000, block_tokens=16, slots=8)
    driver.tick()
    return driver


def ask(driver: TestDriver) -> int:
    own = driver.submitted
    return driver.submit(tokens=700, chain=chain(*SYSTEM, 1000 + own, 2000 + own), max_tokens=8)


def heated(driver: TestDriver, prompts: int = 5) -> int:
    """So many prompts that begin alike have come; the last one is still open."""
    for number in range(prompts):
        ticket = ask(driver)
        if number < prompts - 1:
            driver.finish(driver.lease_of(ticket))
    return ticket


def test_a_hot_prefix_is_sent_to_a_node_that_lacks_it_and_counts_as_held_there() -> None:
    facts: list[object] = []
    driver = driver_of("a", "b", "c")
    driver.dispatcher.subscribe({Warmed: facts.append})
    ticket = heated(driver)
    driver.tick(0.5)
    (order,) = driver.warm_ups.values()
    assert order.node.name != driver.node(ticket)
    assert (order.ticket, order.links, order.tokens) == (ticket, 40, 640)
    driver.tick(5.0)
    assert len(driver.warm_ups) == 1, "two nodes are enough"
    driver.warmed(order.warm)
    assert facts == [Warmed(driver.now, order.node.name, "m", 640, 5.0, True)]
    driver.finish(driver.lease_of(ticket))
    heated(driver)
    driver.tick(5.0)
    assert not driver.warm_ups
    driver.rest()


def test_what_was_not_computed_is_not_believed_and_is_tried_again() -> None:
    driver = driver_of("a", "b")
    ticket = heated(driver)
    driver.tick(0.5)
    (order,) = driver.warm_ups.values()
    driver.warmed(order.warm, ok=False)
    row = driver.dispatcher.fleet.row_of[order.node.name]
    assert driver.dispatcher.placement.index.held(row) == 0
    driver.tick(5.0)
    assert [again.node.name for again in driver.warm_ups.values()] == [order.node.name]
    driver.obey(driver.dispatcher.warmed(99, True, driver.now))
    driver.finish(driver.lease_of(ticket))
    driver.rest()


@pytest.mark.parametrize(
    ("cache", "prompts"),
    [
        (CacheSettings(), 9),
        (CacheSettings(warm_nodes=1), 9),
        (CacheSettings(warm_nodes=2, warm_hits=8.0), 5),
        (CacheSettings(warm_nodes=2, warm_tokens=641), 9),
    ],
)
def test_what_is_off_held_cold_or_short_is_not_warmed(cache: CacheSettings, prompts: int) -> None:
    driver = driver_of("a", "b", cache=cache)
    heated(driver, prompts)
    driver.tick(1.0)
    assert not driver.warm_ups
    driver.rest()


def test_nothing_is_warmed_while_requests_wait_or_nodes_are_at_work() -> None:
    driver = driver_of("a", "b")
    heated(driver)
    others = [driver.submit(tokens=50) for _ in range(16)]
    driver.tick(0.5)
    assert driver.waiting
    assert not driver.warm_ups
    for lease in [lease for lease, ticket in driver.running.items() if ticket in others][:6]:
        driver.finish(lease)
    driver.tick(0.5)
    assert not driver.waiting
    assert not driver.warm_ups
    driver.rest()


def test_a_node_spends_a_share_of_its_time_on_it() -> None:
    driver = driver_of("a", "b", cache=CacheSettings(warm_nodes=2, warm_share=0.01))
    heated(driver)
    driver.tick(0.5)
    (first,) = driver.warm_ups
    driver.warmed(first, ok=False)
    driver.tick(0.5)
    assert not driver.warm_ups
    driver.rest()


def test_a_prefix_whose_requests_are_over_waits_for_the_next() -> None:
    driver = driver_of("a", "b")
    driver.finish(driver.lease_of(heated(driver)))
    driver.tick(0.5)
    assert not driver.warm_ups
    heated(driver, 1)
    driver.tick(0.5)
    assert driver.warm_ups
    driver.rest()


def test_a_node_that_is_removed_meanwhile_leaves_when_it_is_through() -> None:
    driver = driver_of("a", "b")
    ticket = heated(driver)
    driver.tick(0.5)
    (order,) = driver.warm_ups.values()
    driver.obey(driver.dispatcher.remove_node(order.node.name, driver.now))
    assert order.node.name in driver.dispatcher.fleet.row_of
    driver.warmed(order.warm)
    assert order.node.name not in driver.dispatcher.fleet.row_of
    driver.finish(driver.lease_of(ticket))
    driver.rest()


def test_it_can_be_switched_off_and_on() -> None:
    driver = driver_of("a", "b")
    driver.obey(driver.dispatcher.configure(BrainSettings(), driver.now))
    heated(driver)
    driver.tick(1.0)
    assert not driver.warm_ups
    driver.obey(driver.dispatcher.configure(BrainSettings(cache=WARM), driver.now))
    heated(driver)
    driver.tick(1.0)
    assert driver.warm_ups
    driver.rest()
