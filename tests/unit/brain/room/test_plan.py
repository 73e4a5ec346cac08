"""Whom a plan takes: only who may be, only as many as it takes, by the rule, where that is best."""

import pytest
from tests.support.tight import TightDriver

from pointsman.brain.room.plan import ASKED_SECONDS, Plan, least


def waiting(driver: TightDriver, blocks: int, priority: float, **more: object) -> int:
    """A ticket that waits while nobody obeys."""
    driver.deaf = True
    return driver.ask(blocks, priority, **more)


def planned(driver: TightDriver, ticket: int) -> Plan | None:
    return driver.dispatcher.maker.planner.preempting(driver.dispatcher._tickets[ticket], driver.now)


def test_the_cheapest_that_suffice_go_and_nobody_else() -> None:
    """Beside the 10 that are free, 50 are had by 20 and 30 sooner than by 40 and any other."""
    driver = TightDriver("a")
    leases = [driver.lease_of(driver.ask(blocks)) for blocks in (20, 40, 30)]
    waiting(driver, 60, 2.0)
    assert driver.asked == [leases[0], leases[2]]


def test_who_is_not_needed_after_all_is_spared() -> None:
    sizes = {1: 5, 2: 10, 3: 90}
    assert least([1, 2, 3], lambda some: sum(sizes[one] for one in some) >= 90) == [3]  # type: ignore[list-item, misc]
    assert least([1, 2, 3], lambda some: sum(sizes[one] for one in some) >= 95) == [1, 3]  # type: ignore[list-item, misc]
    assert least([1, 2], lambda some: sum(sizes[one] for one in some) >= 20) is None  # type: ignore[list-item, misc]


@pytest.mark.parametrize(
    "spared",
    [{"priority": 2.0}, {"priority": 3.0}, {"resumable": False}],
    ids=["as urgent", "more urgent", "cannot go on elsewhere"],
)
def test_who_must_not_give_way_does_not(spared: dict[str, object]) -> None:
    driver = TightDriver("a")
    priority = float(spared.pop("priority", 1.0))  # type: ignore[arg-type]
    driver.ask(90, priority, **spared)
    ticket = waiting(driver, 50, 2.0)
    assert planned(driver, ticket) is None
    assert driver.asked == []


def test_nobody_goes_where_that_would_not_do() -> None:
    driver = TightDriver("a")
    driver.ask(40, 1.0)
    driver.ask(40, 2.0)
    waiting(driver, 70, 2.0)
    assert driver.asked == []


def test_nobody_goes_where_it_fits_anyway() -> None:
    driver = TightDriver("a", "b")
    driver.ask(90)
    ticket = driver.ask(90, 2.0)
    assert driver.node(ticket) == "b"
    assert driver.asked == []


def test_of_several_nodes_the_cheapest() -> None:
    driver = TightDriver("a", "b")
    large, small = driver.ask(90), driver.ask(60)
    waiting(driver, 50, 2.0)
    assert driver.asked == [driver.lease_of(small)]
    assert large


def test_by_value_the_one_that_is_nearly_through_goes_first() -> None:
    driver = TightDriver("a", "b", victims="value")
    young, old = (driver.lease_of(driver.ask(60, max_tokens=100)) for _ in range(2))
    driver.first_token(old)
    driver.obey(driver.dispatcher.tokens(old, 80, driver.now))
    waiting(driver, 50, 2.0)
    assert driver.asked == [old]
    assert young


def test_who_was_asked_counts_as_gone_for_a_while_and_then_as_one_who_stays() -> None:
    driver = TightDriver("a")
    driver.ask(90)
    waiting(driver, 50, 2.0)
    assert len(driver.asked) == 1
    other = waiting(driver, 40, 2.0)
    assert planned(driver, other) is None, "there is room for both when that one is gone"
    driver.tick(ASKED_SECONDS + 0.1)
    assert planned(driver, other) is None, "and when it does not go, nobody asks again"
    assert len(driver.asked) == 1


def test_a_slot_is_room_too() -> None:
    driver = TightDriver()
    driver.add("a", slots=2)
    first, _ = driver.ask(10), driver.ask(10)
    ticket = driver.ask(10, 2.0)
    assert driver.node(ticket) == "a"
    assert first in driver.waiting or len(driver.waiting) == 1


@pytest.mark.parametrize("layout", ["buddy", "size_class"])
def test_a_layout_is_asked_whether_there_is_a_piece(layout: str) -> None:
    """Of 64 blocks in slabs, 32 are free in two pieces of 16: two others must go, and these must be neighbours."""
    driver = TightDriver()
    driver.add("a", slots=64, kv_tokens=64 * 16, block_tokens=16, kv_layout=layout, kv_split_tokens=16)
    for _ in range(4):
        driver.ask(16)
    ticket = driver.ask(32, 2.0)
    assert driver.node(ticket) == "a"
    assert len(driver.asked) == (2 if layout == "buddy" else len(driver.asked))
