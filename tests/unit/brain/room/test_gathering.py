"""Streams are moved where free memory is scattered: the fewest, to where there is room, if that is worth it."""

import pytest
from tests.support.tight import TightDriver

from pointsman.brain.model.facts import RoomMade

FAST = {"prefill_base": 0.0, "prefill_per_token": 1e-4, "prefill_per_pair": 0.0}
SLOW_PREFILL = {"prefill_per_token": 10.0}


def scattered(*, rates: dict[str, float] = FAST, **settings: object) -> TightDriver:
    """Three nodes of 100 blocks with 60 used on each, by a stream of 40 and one of 20: 120 are free, 40 on each."""
    driver = TightDriver(
        "a", "b", "c", cut_after=5, **{"preemption": "off", "defragmentation": "on", "queue_timeout_s": 1e6} | settings
    )
    for blocks in (40, 40, 40, 20, 20, 20):
        driver.ask(blocks)
    for name, value in ({"tpot_base": 0.05} | FAST | rates).items():
        getattr(driver.dispatcher.fleet.columns, name)[:3] = value
    return driver


def test_a_long_request_is_placed_and_all_streams_go_on() -> None:
    driver = scattered()
    facts: list[RoomMade] = []
    driver.dispatcher.subscribe({RoomMade: facts.append})
    assert {driver.free(node) for node in "abc"} == {40}
    long = driver.ask(80)
    assert long in driver.running.values()
    assert not driver.waiting, "those who were moved run elsewhere"
    (made,) = facts
    assert (made.cause, made.blocks, len(made.leases)) == ("defragmented", 40, 1)
    assert driver.node(long) == made.node
    driver.rest()


def test_off_it_waits() -> None:
    driver = scattered(defragmentation="off")
    long = driver.ask(80)
    assert long in driver.waiting
    assert driver.asked == []


def test_nobody_moves_where_there_is_too_little_in_all() -> None:
    driver = TightDriver("a", "b", preemption="off", defragmentation="on")
    for blocks in (80, 80):
        driver.ask(blocks)
    driver.ask(60)
    assert driver.asked == []


def test_nobody_moves_who_has_nowhere_to_go() -> None:
    """80 blocks are free in all, 40 on each of two nodes, but what stands in the way takes 60 in one piece."""
    driver = TightDriver("a", "b", preemption="off", defragmentation="on")
    for blocks in (60, 60):
        driver.ask(blocks)
    long = driver.ask(70)
    assert long in driver.waiting
    assert driver.asked == []


def test_a_plan_that_costs_more_than_it_saves_is_refused() -> None:
    driver = scattered(rates=SLOW_PREFILL)
    long = driver.ask(80)
    assert long in driver.waiting
    assert driver.asked == []


@pytest.mark.parametrize("priority", [0.5, 1.0])
def test_the_more_urgent_are_not_moved_for_the_less_urgent(priority: float) -> None:
    driver = scattered()
    driver.ask(80, priority)
    assert bool(driver.asked) == (priority == 1.0)


def test_what_cannot_be_resumed_stays() -> None:
    driver = TightDriver("a", "b", preemption="off", defragmentation="on")
    for blocks in (40, 40, 20, 20):
        driver.ask(blocks, resumable=False)
    driver.ask(70)
    assert driver.asked == []
