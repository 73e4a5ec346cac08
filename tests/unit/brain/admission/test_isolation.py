"""Long contexts apart."""

import pytest
from tests.support.driver import FAILED, TestDriver

from pointsman.brain.model.settings import BrainSettings

LONG, SHORT = 50_000, 100


def driver_of(*names: str, **settings: object) -> TestDriver:
    driver = TestDriver(long_context_tokens=10_000, **settings)
    for name in names:
        driver.add(name, slots=4)
    return driver


def nodes(driver: TestDriver, tokens: int, count: int) -> list[str]:
    return [driver.node(driver.submit(tokens=tokens)) for _ in range(count)]


def test_long_prompts_go_to_their_nodes_and_others_elsewhere() -> None:
    driver = driver_of("a", "b", "c", long_context_nodes=("c",))
    assert set(nodes(driver, LONG, 3)) == {"c"}
    assert set(nodes(driver, SHORT, 6)) == {"a", "b"}
    driver.rest()


def test_others_may_use_those_nodes_while_nothing_runs_there() -> None:
    driver = driver_of("a", "b", long_context_nodes=("b",), short_on_long_nodes="idle")
    assert nodes(driver, SHORT, 4).count("b") == 1
    driver.rest()


def test_who_waits_for_a_node_of_long_prompts_holds_up_nobody() -> None:
    driver = driver_of("a", "b", long_context_nodes=("b",), long_context_per_node=1)
    running = driver.submit(tokens=LONG)
    waiting = driver.submit(tokens=LONG)
    assert waiting in driver.waiting
    assert nodes(driver, SHORT, 2) == ["a", "a"]
    driver.finish(driver.lease_of(running))
    assert driver.node(waiting) == "b"
    driver.rest()


def test_there_is_a_limit_for_all_nodes_too() -> None:
    driver = driver_of("a", "b", long_context_requests=2)
    tickets = [driver.submit(tokens=LONG) for _ in range(3)]
    assert driver.waiting == {tickets[2]}
    driver.cancel(tickets[0])
    assert not driver.waiting
    driver.rest()


@pytest.mark.parametrize("gone", ["a", "b"])
def test_where_one_side_has_no_node_in_use_everyone_goes_to_the_other(gone: str) -> None:
    driver = driver_of("a", "b", long_context_nodes=("b",))
    driver.obey(driver.dispatcher.drain(gone, driver.now))
    assert {*nodes(driver, LONG, 1), *nodes(driver, SHORT, 1)} == {"a", "b"} - {gone}
    driver.rest()


def test_a_failed_try_frees_its_place() -> None:
    driver = driver_of("a", "b", long_context_requests=1)
    ticket = driver.submit(tokens=LONG)
    driver.finish(driver.lease_of(ticket), FAILED)
    assert ticket in driver.running.values()
    driver.rest()


def test_a_new_threshold_applies_to_those_who_wait() -> None:
    driver = driver_of("a", long_context_requests=1)
    running, waiting = driver.submit(tokens=LONG), driver.submit(tokens=LONG)
    assert waiting in driver.waiting
    driver.obey(driver.dispatcher.configure(BrainSettings(), driver.now))
    assert {running, waiting} == set(driver.running.values())
    driver.rest()


def test_a_node_of_long_prompts_on_trial_keeps_nobody_else_waiting() -> None:
    driver = driver_of("a", "b", long_context_nodes=("b",), slow_start_s=3.0, ejection_s=2.0)
    for _ in range(4):
        driver.report("b", ok=False)
    driver.tick(3.0)
    driver.report("b")
    assert nodes(driver, SHORT, 3) == ["a", "a", "a"]
    assert nodes(driver, LONG, 1) == ["b"]
    driver.rest()


def test_what_ended_is_no_longer_counted() -> None:
    driver = TestDriver(long_context_tokens=1000, long_context_requests=1)
    driver.add("a")
    isolation = driver.dispatcher.placement.isolation
    ticket = driver.submit(tokens=2000)
    assert not isolation.at_rest()
    driver.cancel(ticket)
    assert isolation.at_rest()
