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


def test_one_node_alone_gives_back_and_stays_the_one() -> None:
    cache = CacheSettings(prealloc=(MemoryClass(model="m", up_to_tokens=256, requests=2, nodes=3),), starve_s=5.0)
    driver = TestDriver("greedy", cache=cache, queue_timeout_s=1e6)
    for name in "abc":
        driver.add(name, kv_tokens=1600, block_tokens=16)
    driver.tick()
    held = [driver.submit(tokens=600, max_tokens=8) for _ in range(3)]
    waiting = driver.submit(tokens=1200, max_tokens=8)
    account = driver.dispatcher.placement.pool.account
    assert [account(row).preallocated for row in range(3)] == [32, 32, 32]
    for _ in range(5):
        driver.tick(2.0)
        assert sorted(account(row).preallocated for row in range(3))[1:] == [32, 32]
    (yielded,) = [row for row in range(3) if not account(row).preallocated]
    other = next(ticket for ticket in held if driver.node(ticket) != "abc"[yielded])
    driver.finish(driver.lease_of(other))
    driver.tick(2.0)
    assert not account(yielded).preallocated
    driver.finish(next(driver.lease_of(each) for each in held if each != other and driver.node(each) == "abc"[yielded]))
    assert driver.node(waiting) == "abc"[yielded]
    driver.tick(1.0)
    assert account(yielded).preallocated == 100 - account(yielded).reserved
    driver.rest()


def test_demand_counts_who_comes_whatever_becomes_of_it() -> None:
    driver = TestDriver("greedy", cache=CacheSettings(demand_classes=1), queue_limit=1)
    driver.add("a", slots=1, kv_tokens=1600, block_tokens=16)
    for _ in range(3):
        driver.submit(tokens=200, max_tokens=8)
    (found,) = driver.dispatcher.placement.prealloc._found.values()
    assert found.demand.rate(60.0, driver.now) == 3 / 60.0


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
