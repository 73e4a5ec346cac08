"""Whatever the policy, a node that becomes slow gets less before it fails, and its part again when it is well."""

import pytest
from tests.support.driver import TestDriver
from tests.support.paced_fleet import PacedFleet

POLICIES = ("round_robin", "least_requests", "peak_ewma", "fastest_completion")


@pytest.mark.parametrize("policy", POLICIES)
def test_a_node_slowed_five_times_loses_its_part_and_regains_it(policy: str) -> None:
    fleet = PacedFleet(TestDriver(policy), dict.fromkeys("abcd", 1.0), rate=12.0)
    fleet.run(60.0)
    assert fleet.run(20.0)["a"] == pytest.approx(0.25, abs=0.08)
    fleet.pace["a"] = 5.0
    fleet.run(20.0)  # some 240 requests
    assert fleet.run(40.0)["a"] < 0.1
    fleet.pace["a"] = 1.0
    fleet.run(90.0)
    assert fleet.run(40.0)["a"] == pytest.approx(0.25, abs=0.08)


@pytest.mark.parametrize("policy", ["round_robin", "least_requests", "fastest_completion"])
def test_nodes_of_mixed_speeds_keep_their_parts(policy: str) -> None:
    driver = TestDriver(policy)
    fleet = PacedFleet(driver, {"a": 1.0, "b": 3.0, "c": 1.0, "d": 0.4, "e": 6.0}, rate=15.0)
    for _ in range(60):
        fleet.run(1.0)
        assert driver.dispatcher.fleet.share[:5].tolist() == [1.0] * 5


def test_the_last_node_of_a_model_is_not_lowered() -> None:
    driver = TestDriver("round_robin")
    fleet = PacedFleet(driver, {"a": 1.0, "b": 1.0}, rate=6.0)
    fleet.run(60.0)
    fleet.pace["a"] = 6.0
    fleet.run(30.0)
    brain = driver.dispatcher.fleet
    assert brain.share[0] < 0.3
    driver.obey(driver.dispatcher.drain("b", driver.now))
    driver.tick(1.0)
    assert (brain.share[0], brain.cap[0]) == (1.0, brain.columns.slots[0])


def test_an_engine_whose_queue_grows_long_is_held_at_what_its_peers_hold() -> None:
    driver = TestDriver("round_robin")
    for name in "abc":
        driver.add(name)
        for _ in range(2):
            driver.report(name, running=8, waiting=56 if name == "a" else 0)
    for _ in range(9):
        driver.submit()
    driver.tick(1.0)
    brain = driver.dispatcher.fleet
    assert brain.share[:3].tolist() == pytest.approx([0.125, 1.0, 1.0])
    assert brain.cap[0] == 3.0
    driver.report("a", running=8, waiting=0)
    shares = []
    for _ in range(30):
        driver.tick(1.0)
        shares.append(float(brain.share[0]))
    assert shares == sorted(shares)
    assert (shares[0] < 0.2, shares[-1]) == (True, 1.0)
