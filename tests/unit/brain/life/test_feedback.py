"""Who may say what of which request, and how often."""

import pytest
from tests.support.driver import TestDriver

from pointsman.brain.life.feedback import BURST, REMEMBERED, REMEMBERED_SECONDS, SPACING_SECONDS, FeedbackDesk
from pointsman.brain.model.errors import Conflict, NotFound, TooManyRequests
from pointsman.brain.model.facts import Fact, FedBack
from pointsman.brain.model.node import NodeState
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.brain.model.reports import ClientReport
from pointsman.brain.model.served import Served


def said(request: str = "r", tenant: str = "t", good: bool = False) -> ClientReport:
    return ClientReport(request=request, tenant=tenant, good=good)


def served(request: str = "r", row: int = 0) -> Served:
    return Served("t", request, row, 1, False, 0.0)


@pytest.fixture
def desk() -> FeedbackDesk:
    desk = FeedbackDesk()
    for number in range(BURST + 5):
        desk.remember(served(f"r{number}"))
    return desk


def test_each_request_is_reported_on_once() -> None:
    desk = FeedbackDesk()
    desk.remember(served(row=3))
    assert desk.take(said(), 1.0).row == 3
    for good in (True, False):
        with pytest.raises(Conflict):
            desk.take(said(good=good), 1.0)


def test_only_the_tenant_itself_can_report_and_only_on_what_ended_of_late() -> None:
    desk = FeedbackDesk()
    desk.remember(served())
    for report, now in ((said(tenant="other"), 1.0), (said("unknown"), 1.0), (said(), REMEMBERED_SECONDS + 1.0)):
        with pytest.raises(NotFound):
            desk.take(report, now)


def test_of_two_requests_with_one_id_the_last_is_meant() -> None:
    desk = FeedbackDesk()
    desk.remember(served(row=1))
    desk.take(said(), 0.0)
    desk.remember(served(row=2))
    assert desk.take(said(), 0.0).row == 2


def test_the_oldest_requests_are_forgotten() -> None:
    desk = FeedbackDesk()
    for number in range(REMEMBERED + 1):
        desk.remember(served(f"r{number}", number))
    with pytest.raises(NotFound):
        desk.take(said("r0"), 0.0)
    assert desk.take(said("r1"), 0.0).row == 1


def test_complaints_beyond_the_bucket_wait_and_can_then_be_made(desk: FeedbackDesk) -> None:
    for number in range(BURST):
        desk.take(said(f"r{number}"), 0.0)
    with pytest.raises(TooManyRequests) as refused:
        desk.take(said(f"r{BURST}"), 1.0)
    assert refused.value.retry_after_s == pytest.approx(SPACING_SECONDS - 1.0)
    desk.take(said(f"r{BURST}"), SPACING_SECONDS)
    with pytest.raises(TooManyRequests):
        desk.take(said(f"r{BURST + 1}"), SPACING_SECONDS)


def test_a_bucket_is_full_again_after_a_while_and_not_fuller(desk: FeedbackDesk) -> None:
    desk.take(said("r0"), 0.0)
    now = 500.0
    for number in range(1, BURST + 1):
        desk.take(said(f"r{number}"), now)
    with pytest.raises(TooManyRequests):
        desk.take(said(f"r{BURST + 1}"), now)


def test_good_words_and_other_tenants_use_up_nothing(desk: FeedbackDesk) -> None:
    for number in range(BURST):
        desk.take(said(f"r{number}"), 0.0)
    desk.take(said(f"r{BURST}", good=True), 0.0)
    desk.remember(Served("u", "r", 0, 1, False, 0.0))
    desk.take(said(tenant="u"), 0.0)


def fleet_of(*names: str, slots: int = 8, **settings: object) -> TestDriver:
    driver = TestDriver(**settings)
    for name in names:
        driver.add(name, slots=slots)
    return driver


def complaint(ticket: int) -> ClientReport:
    return said(f"r{ticket}", "")


def on_node(driver: TestDriver, name: str) -> int:
    return next(ticket for ticket in iter(driver.submit, None) if driver.node(ticket) == name)


def test_three_complaints_in_a_row_take_a_node_out_as_failures_do() -> None:
    facts: list[Fact] = []
    driver = TestDriver(observers=[facts.append])
    for name in "abc":
        driver.add(name)
    tickets = [on_node(driver, "a") for _ in range(3)]
    for ticket in tickets:
        driver.finish(driver.lease_of(ticket))
    for ticket in tickets:
        driver.obey(driver.dispatcher.feedback(complaint(ticket), driver.now))
    assert driver.dispatcher.fleet.states[0] is NodeState.DOWN
    assert [(fact.node, fact.counted) for fact in facts if isinstance(fact, FedBack)] == [("a", True)] * 3


def test_a_failure_seen_here_is_not_counted_again_by_its_client() -> None:
    driver = fleet_of("a", "b", "c")
    for _ in range(2):
        ticket = on_node(driver, "a")
        driver.finish(driver.lease_of(ticket), Outcome(verdict=Verdict.FAIL, reason="truncated"))
        driver.obey(driver.dispatcher.feedback(complaint(ticket), driver.now))
    assert driver.dispatcher.fleet.states[0] is NodeState.UP


def test_old_complaints_do_not_fail_a_nodes_trial_nor_its_successor() -> None:
    driver = fleet_of("a", "b", "c")
    tickets = [on_node(driver, "a") for _ in range(2)]
    for ticket in tickets:
        driver.finish(driver.lease_of(ticket))
    driver.tick(3.0)
    for _ in range(4):
        driver.report("a", ok=False)
    driver.tick(13.0)
    driver.report("a")
    driver.obey(driver.dispatcher.feedback(complaint(tickets[0]), driver.now))
    assert driver.dispatcher.fleet.states[0] is NodeState.JOINING
    driver.obey(driver.dispatcher.remove_node("a", driver.now))
    driver.add("a")
    driver.obey(driver.dispatcher.feedback(complaint(tickets[1]), driver.now))
    assert driver.dispatcher.membership.health.records[0].fails_in_a_row == 0


def test_feedback_on_a_request_that_was_never_served_is_refused() -> None:
    driver = fleet_of("a", slots=1, queue_limit=1)
    driver.submit()
    driver.cancel(driver.submit())
    with pytest.raises(NotFound):
        driver.dispatcher.feedback(complaint(2), driver.now)
