"""What the manager does from time to time, seen from the dispatcher."""

from tests.support.driver import TestDriver

from pointsman.brain.model.cache_settings import CacheSettings, MemoryClass
from pointsman.brain.model.settings import BrainSettings

KEPT = CacheSettings(prealloc=(MemoryClass(model="m", up_to_tokens=256, requests=2),), starve_s=5.0)


def driver_of(cache: CacheSettings = KEPT) -> TestDriver:
    driver = TestDriver("greedy", cache=cache)
    driver.add("a", kv_tokens=1600, block_tokens=16)
    driver.tick()
    return driver


def kept(driver: TestDriver) -> float:
    return driver.dispatcher.placement.pool.account(0).preallocated


def test_memory_is_kept_for_the_class_and_handed_out_at_once() -> None:
    driver = driver_of()
    assert kept(driver) == 32
    other, second = (driver.submit(tokens=600, max_tokens=8) for _ in range(2))
    assert driver.node(other) == "a"
    assert second in driver.waiting, "what is left is kept"
    mine = driver.submit(tokens=200, max_tokens=8)
    assert driver.node(mine) == "a"
    driver.rest()
    assert kept(driver) == 32


def test_nobody_who_is_due_first_holds_up_what_is_kept() -> None:
    driver = TestDriver("greedy", cache=KEPT, overtake_limit=0)
    driver.add("a", kv_tokens=1600, block_tokens=16)
    driver.tick()
    waiting = driver.submit(tokens=1400, max_tokens=8)
    mine = [driver.submit(tokens=240, max_tokens=8) for _ in range(3)]
    assert driver.waiting == {waiting, mine[2]}, "for the third nothing is kept"
    driver.rest()


def test_it_is_given_back_while_others_starve() -> None:
    driver = driver_of()
    waiting = driver.submit(tokens=1400, max_tokens=8)
    assert waiting in driver.waiting
    driver.tick(4.0)
    assert waiting in driver.waiting
    driver.tick(2.5)
    driver.tick(0.1)
    assert driver.node(waiting) == "a"
    assert kept(driver) == 0
    driver.tick(1.0)
    assert kept(driver) <= 12, "what is there besides"
    driver.rest()


def test_it_begins_and_ends_with_the_settings() -> None:
    driver = driver_of(CacheSettings())
    assert (kept(driver), driver.dispatcher.next_deadline()) != (32, 0.0)
    driver.obey(driver.dispatcher.configure(BrainSettings(cache=KEPT), driver.now))
    driver.tick()
    assert kept(driver) == 32
    driver.obey(driver.dispatcher.configure(BrainSettings(), driver.now))
    driver.tick(1.0)
    assert kept(driver) == 0
    driver.obey(driver.dispatcher.configure(BrainSettings(cache=KEPT), driver.now))
    driver.tick()
    assert kept(driver) == 32
    driver.rest()
