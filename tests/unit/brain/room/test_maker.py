"""Who fits nowhere takes the place of less urgent ones, which go on elsewhere or later, and nobody else takes it."""

from tests.support.tight import TightDriver

from pointsman.brain.life.resume import MOST_INTERRUPTIONS
from pointsman.brain.model.facts import Interrupted, RoomMade
from pointsman.brain.room.claims import CLAIM_SECONDS


def test_the_urgent_one_runs_at_once_and_the_other_waits_for_its_turn() -> None:
    driver = TightDriver("a", cut_after=5)
    facts: list[object] = []
    driver.dispatcher.subscribe({RoomMade: facts.append, Interrupted: facts.append})
    low = driver.ask(90)
    high = driver.ask(50, 2.0)
    assert driver.node(high) == "a"
    assert low in driver.waiting
    made, interrupted = facts
    assert isinstance(made, RoomMade)
    assert (made.ticket, made.node, made.cause, made.blocks) == (high, "a", "preempted", 90)
    assert isinstance(interrupted, Interrupted)
    assert (interrupted.cause, interrupted.tokens, interrupted.resumed) == ("preempted", 5, True)
    inside = driver.dispatcher._tickets[low]
    assert (inside.delivered_tokens, inside.excluded) == (5, ()), "nothing is held against the node"
    driver.finish(driver.lease_of(high))
    assert driver.node(low) == "a"
    driver.rest()


def test_another_node_takes_it_over_at_once() -> None:
    driver = TightDriver("a", "b", cut_after=5)
    low = driver.ask(45)
    first = driver.node(low)
    driver.ask(50, 3.0)
    high = driver.ask(90, 2.0)
    assert driver.node(high) == first
    assert driver.node(low) != first
    assert not driver.waiting
    driver.rest()


def test_off_everyone_waits() -> None:
    driver = TightDriver("a", preemption="off")
    driver.ask(90)
    high = driver.ask(50, 2.0)
    assert high in driver.waiting
    assert driver.asked == []


def test_the_room_is_kept_from_those_who_come_meanwhile() -> None:
    driver = TightDriver("a")
    low = driver.lease_of(driver.ask(90))
    driver.deaf = True
    high = driver.ask(100, 2.0)
    small = driver.ask(5, 2.0)
    driver.tick(0.06)
    assert {high, small} <= driver.waiting, "ten blocks are free, but they were promised"
    driver.give_way(low, "preempted")
    assert driver.node(high) == "a"
    assert small in driver.waiting
    driver.rest()


def test_room_that_does_not_come_is_not_kept_for_ever() -> None:
    driver = TightDriver("a")
    driver.ask(90)
    driver.deaf = True
    high = driver.ask(100, 2.0)
    small = driver.ask(5, 2.0)
    for _ in range(int(CLAIM_SECONDS / 0.05) + 2):
        driver.tick(0.05)
    assert driver.node(small) == "a"
    assert high in driver.waiting
    driver.rest()


def test_one_that_leaves_gives_its_room_back() -> None:
    driver = TightDriver("a")
    driver.ask(90)
    driver.deaf = True
    high = driver.ask(100, 2.0)
    assert driver.free("a") == -90
    driver.cancel(high)
    assert driver.free("a") == 10
    driver.rest()


def test_who_gave_way_often_enough_is_left_alone() -> None:
    driver = TightDriver("a", cut_after=1, queue_timeout_s=1000.0)
    low = driver.ask(90)
    for _ in range(MOST_INTERRUPTIONS):
        high = driver.ask(50, 2.0)
        driver.finish(driver.lease_of(high))
        assert driver.node(low) == "a"
    last = driver.ask(50, 2.0)
    assert last in driver.waiting
    assert len(driver.asked) == MOST_INTERRUPTIONS
    driver.rest()


def test_who_gave_way_is_not_refused_for_waiting_long_or_a_full_queue() -> None:
    driver = TightDriver("a", queue_timeout_s=1.0, queue_limit=1, order="priority")
    low = driver.ask(90)
    high = driver.ask(50, 2.0)
    more = driver.ask(60, 2.0)
    assert {low} <= driver.waiting
    assert driver.ended.get(more) == "queue_full"
    for _ in range(40):
        driver.tick(0.05)
    assert low in driver.waiting
    driver.finish(driver.lease_of(high))
    assert driver.node(low) == "a"
    driver.rest()


def test_the_most_urgent_of_those_who_wait_gets_it() -> None:
    driver = TightDriver("a")
    driver.ask(90)
    same = driver.ask(60, 1.0)
    high = driver.ask(50, 4.0)
    assert driver.node(high) == "a"
    assert same in driver.waiting
    driver.rest()
