"""At low load a node is emptied where free memory is scattered, if that is worth it."""

import pytest
from tests.support.tight import TightDriver

from pointsman.brain.model.cache_settings import CacheSettings
from pointsman.brain.model.facts import Emptied
from pointsman.brain.model.outside import MemoryWish
from pointsman.brain.model.settings import BrainSettings

GATHERS = CacheSettings(gather_load=0.7, gather_after_s=5.0, gather_above=0.5)
FAST = {"prefill_base": 0.0, "prefill_per_token": 1e-4, "prefill_per_pair": 0.0, "tpot_base": 0.05}


def scattered(cache: CacheSettings = GATHERS, *, blocks: int = 20, **rates: float) -> TightDriver:
    """Three nodes of 100 blocks, on each of which three streams take so many."""
    driver = TightDriver("a", "b", "c", cut_after=5, preemption="off", queue_timeout_s=1e6, cache=cache)
    for _ in range(9):
        driver.ask(blocks)
    for name, value in (FAST | rates).items():
        getattr(driver.dispatcher.fleet.columns, name)[:3] = value
    return driver


def wait(driver: TightDriver, seconds: int) -> None:
    for _ in range(seconds):
        driver.tick(1.0)


def test_a_node_is_emptied_once_little_was_to_do_for_long_enough() -> None:
    driver = scattered()
    facts: list[Emptied] = []
    driver.dispatcher.subscribe({Emptied: facts.append})
    wait(driver, 4)
    assert driver.asked == []
    wait(driver, 3)
    (fact,) = facts
    assert (fact.model, len(fact.leases), fact.blocks) == ("m", 3, 60)
    assert sorted(driver.free(node) for node in "abc") == [0, 20, 100]
    assert driver.free(fact.node) == 100, "nobody came back"
    assert len(driver.running) == 9, "all streams go on"
    wait(driver, 20)
    assert len(facts) == 1, "a whole node is free: nothing is scattered"
    driver.rest()


def test_a_long_request_then_need_not_wait() -> None:
    driver = scattered()
    wait(driver, 7)
    assert driver.ask(90) in driver.running.values()
    driver.rest()


@pytest.mark.parametrize(
    "cache",
    [
        CacheSettings(),
        CacheSettings(gather_load=0.5, gather_after_s=5.0),
        CacheSettings(gather_load=0.7, gather_after_s=5.0, gather_above=0.7),
    ],
    ids=["off", "too much to do", "not scattered so much"],
)
def test_where_it_is_not_wanted_nobody_moves(cache: CacheSettings) -> None:
    driver = scattered(cache)
    wait(driver, 20)
    assert driver.asked == []
    driver.rest()


def test_who_would_find_no_place_elsewhere_stays() -> None:
    driver = scattered(CacheSettings(gather_load=1.0, gather_after_s=5.0), blocks=24)
    wait(driver, 20)
    assert driver.asked == []
    driver.rest()


def test_what_costs_more_than_it_saves_is_left() -> None:
    driver = scattered(prefill_per_token=10.0)
    wait(driver, 20)
    assert driver.asked == []
    driver.rest()


def test_nobody_moves_while_anyone_waits() -> None:
    driver = scattered()
    waiting = driver.ask(90)
    wait(driver, 20)
    assert waiting in driver.waiting
    assert driver.asked == []
    driver.rest()


def test_a_stream_that_must_stay_keeps_its_node() -> None:
    driver = scattered()
    for lease in list(driver.running):
        driver.dispatcher.lives.leases[lease].ticket.interruptions = 3
    wait(driver, 20)
    assert driver.asked == []
    driver.rest()


def test_a_node_where_others_hold_memory_would_not_be_free() -> None:
    driver = scattered()
    dispatcher = driver.dispatcher
    wish = MemoryWish(model="m", prompt_tokens=16, output_tokens=0, ttl_s=60.0)
    held = dispatcher.allocate(wish, driver.now).node
    others = [lease for lease, node in driver.node_of.items() if node != held and lease in driver.running]
    for lease in others:
        dispatcher.lives.leases[lease].ticket.interruptions = 3  # theirs must stay
    facts: list[Emptied] = []
    dispatcher.subscribe({Emptied: facts.append})
    wait(driver, 20)
    assert facts == []
    for lease in others:
        dispatcher.lives.leases[lease].ticket.interruptions = 0
    wait(driver, 2)
    (fact,) = facts
    assert fact.node != held
    driver.rest()


def test_it_begins_and_ends_with_the_settings() -> None:
    driver = scattered(CacheSettings())
    settings = driver.dispatcher.settings
    driver.obey(driver.dispatcher.configure(BrainSettings(cache=GATHERS), driver.now))
    driver.obey(driver.dispatcher.configure(settings, driver.now))
    wait(driver, 20)
    assert driver.asked == []
    driver.obey(driver.dispatcher.configure(BrainSettings(cache=GATHERS), driver.now))
    wait(driver, 8)
    assert len(driver.asked) == 3
    driver.rest()


def test_where_memory_is_not_known_nobody_moves() -> None:
    driver = scattered()
    driver.add("d", slots=64)
    wait(driver, 20)
    assert driver.asked == []
    driver.rest()
