"""What nodes report goes before what is believed, as far as the prompt's tokens are known."""

import pytest
from tests.support.driver import DONE, TestDriver, chain

from pointsman.brain.lease import Ticket
from pointsman.brain.model.facts import CacheReported
from pointsman.brain.model.kv_events import CacheChange
from pointsman.brain.model.request import Chain, Request

PROMPT = chain(1, 2, 3, 4)


def tokens(*links: int) -> Chain:
    return Chain("tokens", links, 16.0)


KNOWN = tokens(101, 102, 103, 104)


def driver_of(nodes: int = 2, residency: str = "reported") -> TestDriver:
    driver = TestDriver("prefix_affinity")
    for number in range(nodes):
        driver.add(f"n{number}", slots=50, kv_tokens=16_000, residency=residency)
    return driver


def tell(driver: TestDriver, node: str, *came: int, **more: object) -> None:
    change = CacheChange(node=node, came=came, **{"whole": True, **more})  # type: ignore[arg-type]
    driver.obey(driver.dispatcher.kv_event(change, driver.now))


def overlaps(driver: TestDriver, known: Chain | None = KNOWN, prompt: Chain = PROMPT, size: int = 64) -> list[float]:
    """What each node would be taken to hold of a prompt."""
    request = Request(id="q", model="m", chain=prompt, token_chain=known)
    view = driver.dispatcher.placement.view(Ticket(0, request, size, 1, 1, 16.0, driver.now), driver.now)
    assert view is not None
    return [float(value) for value in view.overlap]


@pytest.mark.parametrize("nodes", [2, 40])
class TestBothSizesOfFleet:
    def test_what_is_reported_goes_before_what_is_believed(self, nodes: int) -> None:
        driver = driver_of(nodes)
        for node in range(nodes):
            tell(driver, f"n{node}")
        driver.dispatcher.placement.learn(0, PROMPT.links, 16.0)
        tell(driver, "n1", 101, 102)
        assert overlaps(driver)[:2] == [0.0, 32.0]

    def test_without_known_tokens_belief_decides(self, nodes: int) -> None:
        driver = driver_of(nodes)
        tell(driver, "n1", 101, 102)
        driver.dispatcher.placement.learn(0, PROMPT.links, 16.0)
        assert overlaps(driver, None)[:2] == [64.0, 0.0]

    def test_where_a_part_is_known_belief_goes_on_behind_it(self, nodes: int) -> None:
        driver = driver_of(nodes)
        for row in (0, 1):
            driver.dispatcher.placement.learn(row, PROMPT.links, 16.0)
        tell(driver, "n0", 101, 102)
        tell(driver, "n1", 101)
        assert overlaps(driver, tokens(101, 102))[:2] == [64.0, 16.0]

    def test_a_node_that_may_hold_more_than_it_told_is_believed_to(self, nodes: int) -> None:
        driver = driver_of(nodes)
        driver.dispatcher.placement.learn(0, PROMPT.links, 16.0)
        tell(driver, "n0", 101, whole=False)
        assert overlaps(driver)[0] == 64.0

    def test_who_does_not_report_is_believed(self, nodes: int) -> None:
        driver = driver_of(nodes)
        driver.add("other", slots=50, kv_tokens=16_000)
        tell(driver, "n0")
        driver.dispatcher.placement.learn(nodes, PROMPT.links, 16.0)
        assert overlaps(driver)[0::nodes] == [0.0, 64.0]

    def test_what_runs_is_held_before_the_events_tell(self, nodes: int) -> None:
        """A burst of equal prompts would go to as many nodes."""
        driver = driver_of(nodes)
        for node in range(nodes):
            tell(driver, f"n{node}")
        first = driver.submit(tokens=64, chain=PROMPT, token_chain=KNOWN)
        row = int(driver.node_of[driver.lease_of(first)][1:])
        assert overlaps(driver)[row] == 64.0
        driver.finish(driver.lease_of(first), DONE)
        assert overlaps(driver)[row] == 0.0
        assert overlaps(driver, None)[row] == 64.0


def test_of_a_cleared_node_nothing_is_left_to_hit() -> None:
    driver = driver_of(1)
    tell(driver, "n0", *KNOWN.links)
    driver.dispatcher.placement.learn(0, PROMPT.links, 16.0)
    assert overlaps(driver) == [64.0]
    tell(driver, "n0", cleared=True, whole=False)
    assert overlaps(driver) == [0.0]
    assert overlaps(driver, None) == [0.0]


def test_what_is_cached_is_what_is_reported() -> None:
    driver = driver_of(1)
    tell(driver, "n0", *range(100, 110))
    account = driver.dispatcher.placement.pool.account(0)
    assert account.cached == 10
    tell(driver, "n0", went=[109])
    driver.dispatcher.placement.learn(0, PROMPT.links, 16.0)
    assert driver.dispatcher.placement.pool.account(0).cached == 9


def test_it_is_known_when_a_node_was_heard() -> None:
    driver = driver_of(1)
    residency = driver.dispatcher.placement.residency
    assert residency.age(0, 5.0) is None
    driver.now = 3.0
    tell(driver, "n0", 101)
    assert residency.age(0, 5.0) == 2.0


def test_requests_are_counted_by_what_was_known_of_them() -> None:
    driver = driver_of(1)
    driver.submit(tokens=64, chain=PROMPT, token_chain=KNOWN)
    driver.submit(tokens=64, chain=PROMPT)
    residency = driver.dispatcher.placement.residency
    assert (residency.by_report, residency.by_belief) == (1, 1)


def test_events_are_told_of_nodes_that_report_and_of_no_others() -> None:
    told: list[object] = []
    driver = TestDriver(observers=[told.append])
    driver.add("a", residency="reported")
    driver.add("b")
    told.clear()
    for node in "abc":
        tell(driver, node, 1)
    assert [fact.change.node for fact in told if isinstance(fact, CacheReported)] == ["a"]


def test_a_node_can_begin_and_cease_to_report() -> None:
    driver = driver_of(1, "believed")
    placement = driver.dispatcher.placement
    spec = driver.dispatcher.fleet.spec(0)
    assert not placement.residency.on
    reporting = type(spec)(url=spec.url, id="n0", models=("m",), slots=50, kv_tokens=16_000, residency="reported")
    driver.obey(driver.dispatcher.declare_node(reporting, 0.0))
    tell(driver, "n0", 101)
    running = driver.submit(tokens=64, chain=PROMPT, token_chain=KNOWN)
    assert placement.residency.on
    driver.obey(driver.dispatcher.declare_node(spec, 0.0))
    assert not placement.residency.on
    driver.finish(driver.lease_of(running), DONE)
    tell(driver, "n0", 101, 102)
    assert overlaps(driver) == [64.0]
    driver.obey(driver.dispatcher.declare_node(reporting, 0.0))
    driver.obey(driver.dispatcher.remove_node("n0", 0.0))
    assert not placement.residency.on
