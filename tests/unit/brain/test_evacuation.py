"""What a stopped node left behind goes elsewhere as the budget for retries allows, and none of it fails for that."""

from tests.support.driver import TestDriver

from pointsman.brain.evacuation import MOST_SECONDS, STEP_SECONDS
from pointsman.brain.life.resume import MOST_INTERRUPTIONS


def stopped(requests: int, **settings: object) -> tuple[TestDriver, list[int]]:
    """A node that holds the oldest `requests` of a fleet, of which nothing comes; the driver, and their tickets."""
    driver = TestDriver("round_robin", **{"retry_floor": 3, "retry_share": 0.0} | settings)
    driver.add("a", slots=100)
    tickets = [driver.submit(stream=False) for _ in range(requests)]
    driver.add("b", slots=100)
    driver.add("c", slots=100)
    for _ in range(4):
        driver.report("a", ok=False, reason="timeout")
    return driver, tickets


def left(driver: TestDriver) -> int:
    return list(driver.node_of.values()).count("a")


def test_only_as_many_as_the_budget_allows_are_moved_at_a_time() -> None:
    driver, tickets = stopped(10)
    assert left(driver) == 7
    driver.tick(STEP_SECONDS)
    assert left(driver) == 7
    moved = [ticket for ticket in tickets if driver.node(ticket) != "a"]
    for ticket in moved[:2]:
        driver.finish(driver.lease_of(ticket))
    driver.tick(STEP_SECONDS)
    assert left(driver) == 5
    while driver.running:
        for lease in [lease for lease, node in driver.node_of.items() if node != "a"]:
            driver.finish(lease)
        driver.tick(STEP_SECONDS)
    assert {driver.ended[ticket] for ticket in tickets} == {"ok"}


def test_further_bad_probes_do_not_hurry_it() -> None:
    driver, _ = stopped(10)
    for _ in range(5):
        driver.report("a", ok=False, reason="timeout")
    assert left(driver) == 7


def test_after_some_time_what_is_left_fails() -> None:
    driver, tickets = stopped(10)
    driver.tick(MOST_SECONDS + STEP_SECONDS)
    assert left(driver) == 0
    assert [driver.ended.get(ticket) for ticket in tickets].count("node_failed") == 7


def test_a_node_that_is_back_keeps_what_it_has_left() -> None:
    driver, _ = stopped(10, ejection_s=1.0)
    driver.tick(1.5)
    driver.report("a")
    driver.tick(MOST_SECONDS)
    assert left(driver) == 7
    driver.tick(MOST_SECONDS)
    assert left(driver) == 7


def test_what_has_begun_to_be_answered_stays() -> None:
    driver = TestDriver("round_robin")
    driver.add("a")
    driver.add("b")
    tickets = [driver.submit() for _ in range(2)]
    first = next(ticket for ticket in tickets if driver.node(ticket) == "a")
    driver.first_token(driver.lease_of(first))
    driver.tick(10.0)
    for _ in range(4):
        driver.report("a", ok=False, reason="timeout")
    assert driver.node(first) == "a"


def drained(driver: TestDriver, limit_s: float) -> None:
    driver.obey(driver.dispatcher.drain_within("a", limit_s, driver.now))


def test_what_a_drained_node_still_has_after_its_limit_goes_elsewhere() -> None:
    driver = TestDriver("round_robin", tries=1)
    driver.add("a", slots=100)
    tickets = [driver.submit() for _ in range(5)]
    driver.add("b", slots=100)
    drained(driver, 10.0)
    driver.tick(9.0)
    assert left(driver) == 5
    driver.tick(2.0)
    assert [driver.node(ticket) for ticket in tickets] == ["b"] * 5


def test_a_node_that_is_in_use_again_keeps_what_it_has() -> None:
    driver = TestDriver("round_robin")
    driver.add("a", slots=100)
    driver.submit()
    drained(driver, 10.0)
    driver.obey(driver.dispatcher.undrain("a", driver.now))
    driver.tick(11.0)
    assert left(driver) == 1


def test_nothing_is_held_against_a_node_that_was_interrupted() -> None:
    driver = TestDriver("round_robin", fails_in_a_row=1)
    driver.add("a", slots=100)
    ticket = driver.submit()
    driver.add("b", slots=100)
    driver.obey(driver.dispatcher.interrupt(driver.lease_of(ticket), "preempt", driver.now))
    assert driver.node(ticket) == "b"
    assert driver.dispatcher.available("m") == 2


def test_who_was_interrupted_too_often_is_left_alone() -> None:
    driver = TestDriver("round_robin")
    for node in "abcde":
        driver.add(node, slots=100)
    ticket = driver.submit()
    leases = []
    for _ in range(5):
        leases.append(driver.lease_of(ticket))
        driver.obey(driver.dispatcher.interrupt(leases[-1], "preempt", driver.now))
    assert len(set(leases)) == MOST_INTERRUPTIONS + 1
    assert driver.dispatcher.interrupt(999, "nobody", driver.now) == []


def begun(driver: TestDriver, **more: object) -> int:
    """A stream on "a" that has begun, longer ago than tokens are fresh."""
    ticket = next(ticket for ticket in iter(lambda: driver.submit(**more), None) if driver.node(ticket) == "a")
    driver.first_token(driver.lease_of(ticket))
    driver.tokens(driver.lease_of(ticket), 7)
    driver.tick(10.0)
    return ticket


def hang(driver: TestDriver, node: str = "a", reason: str = "timeout") -> None:
    for _ in range(4):
        driver.report(node, ok=False, reason=reason)


def pair(**settings: object) -> TestDriver:
    driver = TestDriver("round_robin", **settings)
    driver.add("a", slots=100)
    driver.add("b", slots=100)
    return driver


def test_a_stream_that_can_go_on_leaves_a_node_that_hangs_at_once() -> None:
    driver = pair(retry_floor=0, retry_share=0.0)
    tickets = [begun(driver, resumable=True) for _ in range(5)]
    hang(driver)
    assert {driver.node(ticket) for ticket in tickets} == {"b"}
    assert {ticket.delivered_tokens for ticket in driver.dispatcher.tickets() if ticket.id in tickets} == {8}


def test_a_stream_stays_where_its_tokens_still_come_from() -> None:
    """A server that shuts down in good order refuses connections, probes too, and ends what it has."""
    driver = pair()
    ticket = begun(driver, resumable=True)
    driver.tokens(driver.lease_of(ticket), 1)
    hang(driver, reason="refused")
    assert driver.node(ticket) == "a"
    driver.tick(10.0)
    hang(driver, reason="refused")
    assert driver.node(ticket) == "b"


def test_a_stream_stays_while_no_other_node_is_up() -> None:
    """All nodes down at once is more likely a fault of ours."""
    driver = pair()
    ticket = begun(driver, resumable=True)
    hang(driver, "b")
    hang(driver)
    assert driver.node(ticket) == "a"
    driver.tick(15.0)
    driver.report("b")
    trial = driver.submit()
    driver.first_token(driver.lease_of(trial))
    hang(driver)
    assert driver.node(ticket) == "b"


def test_a_stream_that_turns_out_not_to_go_on_keeps_waiting() -> None:
    """What was delivered may rule it out, which its driver alone knows."""
    driver = pair()
    driver.resumes = False
    ticket = begun(driver, resumable=True)
    hang(driver)
    assert driver.node(ticket) == "a"
