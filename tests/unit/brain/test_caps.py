"""What each node may hold."""

import pytest
from tests.support.driver import TestDriver

from pointsman.brain.fleet import Fleet
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.brain.policies.registry import POLICIES

BUSY = Outcome(verdict=Verdict.BUSY, reason="status_503", status=503, delivered=True)


def returned(policy: str = "least_requests", **settings: object) -> tuple[TestDriver, Fleet]:
    """Four nodes of 40 slots; the first was drained and is back, with nothing in its cache."""
    driver = TestDriver(policy, slow_start_s=30.0, **settings)
    for name in "abcd":
        driver.add(name, slots=40)
    driver.obey(driver.dispatcher.drain("a", driver.now))
    driver.tick(1.0)
    driver.obey(driver.dispatcher.undrain("a", driver.now))
    return driver, driver.dispatcher.fleet


def test_a_returning_node_ramps_from_a_tenth_to_all() -> None:
    driver, fleet = returned()
    caps = [fleet.cap[0]]
    for _ in range(6):
        driver.tick(5.0)
        caps.append(fleet.cap[0])
    assert caps == pytest.approx([4, 10, 16, 22, 28, 34, 40])


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_no_policy_floods_a_returning_node(policy: str) -> None:
    driver, _ = returned(policy, queue_limit=1000)
    for step in range(31):
        for _ in range(8):
            driver.submit()
        held = list(driver.node_of.values()).count("a")
        assert held < 4 + 36 * step / 30 + 1  # a cap of 4.5 lets the fifth in
        driver.tick(1.0)


def test_weight_and_ramp_multiply() -> None:
    driver, fleet = returned()
    driver.obey(driver.dispatcher.set_weight("a", 0.5, driver.now))
    assert fleet.cap[0] == pytest.approx(2.0)
    driver.tick(30.0)
    assert fleet.cap[0] == pytest.approx(20.0)


def test_back_pressure_caps_for_a_while_at_what_is_held() -> None:
    driver = TestDriver(busy_s=5.0)
    driver.add("a", slots=40)
    leases = [driver.lease_of(driver.submit()) for _ in range(5)]
    driver.finish(leases[0], BUSY)
    assert driver.dispatcher.fleet.cap[0] == 4
    driver.tick(4.9)
    assert driver.dispatcher.fleet.cap[0] == 4
    driver.tick(0.3)
    assert driver.dispatcher.fleet.cap[0] == 40


def test_a_lowered_node_holds_no_more_than_its_peers_and_never_less_than_one() -> None:
    driver = TestDriver()
    for name in "abc":
        driver.add(name, slots=40)
    brain, caps = driver.dispatcher.fleet, driver.dispatcher.membership._caps
    caps.lower({0: 5.0}, 1.0, driver.now)
    assert (brain.share[0], brain.cap[0]) == (pytest.approx(0.1), 1)
    for _ in range(7):
        driver.submit()
    driver.tick(0.1)
    assert brain.cap[0] == pytest.approx(3.0)
    for _ in range(40):
        driver.submit()
    driver.tick(0.1)
    assert brain.cap[0] == pytest.approx(4.0)
