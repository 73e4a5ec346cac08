"""When nodes are probed."""

import pytest
from tests.support.driver import FAILED, TestDriver

from pointsman.brain.model.node import NodeState


@pytest.fixture
def driver() -> TestDriver:
    driver = TestDriver(ejection_s=5.0)
    for name in "abc":
        driver.add(name)
    driver.probes.clear()
    return driver


def probed_at(driver: TestDriver, name: str, until: float, answer: bool | None = None) -> list[float]:
    """When `name` is probed from now on, if it answers so each time and the others well."""
    times = []
    while (due := driver.dispatcher.next_deadline()) is not None and due <= until:
        driver.tick(due - driver.now)
        while driver.probes:
            probed = driver.probes.pop()
            if probed == name:
                times.append(round(driver.now, 3))
            if probed != name or answer is not None:
                driver.report(probed, ok=probed != name or bool(answer))
    return times


def test_a_node_that_joins_is_asked_every_two_seconds_and_one_that_is_up_every_ten(driver: TestDriver) -> None:
    driver.add("new", up=False)
    driver.probes.clear()
    assert probed_at(driver, "new", 7.0) == [2, 4, 6]
    driver.report("new")
    assert probed_at(driver, "new", 40.0, True) == [8, 18, 28, 38]
    assert driver.dispatcher.fleet.states[3] is NodeState.UP


def test_after_one_bad_probe_the_next_comes_soon(driver: TestDriver) -> None:
    assert probed_at(driver, "a", 15.0, False) == [2, 4, 6, 8, 10, 12, 14]
    driver.report("a")
    assert driver.dispatcher.fleet.states[0] is NodeState.JOINING


def test_a_probe_that_took_long_to_fail_is_repeated_at_once(driver: TestDriver) -> None:
    assert probed_at(driver, "a", 13.0) == [2, 12]
    driver.tick(17.0 - driver.now)
    driver.report("a", ok=False, seconds=5.0)
    driver.probes.clear()
    driver.tick(0.0)
    assert driver.probes == ["a"]


def test_a_request_that_fails_brings_the_next_probe_forward(driver: TestDriver) -> None:
    assert probed_at(driver, "a", 13.0, True) == [2, 12]
    driver.tick(15.0 - driver.now)
    driver.dispatcher.membership.ended(0, FAILED, driver.now)
    assert probed_at(driver, "a", 30.0, True) == [15, 17, 19, 21, 23, 25, 27, 29]
    driver.finish(driver.lease_of(next(t for t in iter(driver.submit, None) if driver.node(t) == "a")))
    assert probed_at(driver, "a", 45.0, True) == [31, 41]


def test_failing_requests_do_not_multiply_probes(driver: TestDriver) -> None:
    assert probed_at(driver, "a", 13.0, True) == [2, 12]
    times = []
    for step in range(50):
        driver.dispatcher.membership.ended(0, FAILED, driver.now)
        times += probed_at(driver, "a", 13.0 + 0.1 * step, True)
    assert len(times) <= 4


def test_a_node_that_left_is_not_probed(driver: TestDriver) -> None:
    driver.obey(driver.dispatcher.remove_node("a", 0.0))
    driver.add("a", up=False)
    driver.probes.clear()
    assert probed_at(driver, "a", 5.0) == [2, 4]
