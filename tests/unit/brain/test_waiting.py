"""Who goes next when room appears."""

import pytest
from tests.support.driver import FAILED, TestDriver, chain

from pointsman.brain.model.facts import Queued
from pointsman.brain.model.orders import Refuse
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.brain.model.request import Request
from pointsman.brain.model.settings import BrainSettings


def test_a_late_binding_policy_gives_a_freed_node_the_ticket_that_has_its_cache_there() -> None:
    driver = TestDriver("fastest_completion")
    for name in "ab":
        driver.add(name, slots=1)
    warm = [driver.submit(tokens=8000, chain=chain(*range(100 * n, 100 * n + 500)), max_tokens=1) for n in (0, 5)]
    homes = [driver.node(ticket) for ticket in warm]
    assert set(homes) == {"a", "b"}
    stranger = driver.submit(tokens=8000, chain=chain(*range(9000, 9500)), max_tokens=1)
    follow_up = driver.submit(tokens=8000, chain=chain(*range(500, 1000)), max_tokens=1)
    assert driver.waiting == {stranger, follow_up}
    driver.finish(driver.lease_of(warm[1]))
    assert driver.node(follow_up) == homes[1]
    assert stranger in driver.waiting
    driver.finish(driver.lease_of(warm[0]))
    assert driver.node(stranger) == homes[0]


def test_overtaking_is_bounded() -> None:
    driver = TestDriver("fastest_completion", overtake_limit=3)
    driver.add("a", slots=1)
    driver.add("b", slots=1, up=False)
    hot = chain(*range(500))
    running = driver.submit(tokens=8000, chain=hot, max_tokens=1)
    driver.report("b")
    other = driver.submit(tokens=8000, chain=chain(*range(700, 1200)), max_tokens=1)
    cold = driver.submit(tokens=8000, chain=chain(*range(5000, 5500)), max_tokens=1)
    overtakes = 0
    while cold in driver.waiting:
        driver.submit(tokens=8000, chain=hot, max_tokens=1)
        driver.finish(driver.lease_of(running))
        if cold in driver.waiting:
            overtakes += 1
            running = next(ticket for ticket in driver.running.values() if ticket != other)
        assert overtakes <= 3
    assert driver.node(cold) == "a"


def test_others_serve_in_order_of_arrival() -> None:
    driver = TestDriver("jffc")
    driver.add("a", slots=1)
    first = driver.submit()
    waiting = [driver.submit() for _ in range(4)]
    served = []
    running = first
    while driver.waiting:
        driver.finish(driver.lease_of(running))
        running = next(iter(driver.running.values()))
        served.append(running)
    assert served == waiting


def test_models_wait_apart() -> None:
    driver = TestDriver()
    driver.add("a", "m", slots=1)
    driver.add("b", "n", slots=1)
    driver.submit("m")
    driver.submit("m")
    assert driver.node(driver.submit("n")) == "b"
    assert driver.dispatcher.queued() == {"m": 1, "n": 0}


def test_a_request_that_can_go_nowhere_else_holds_up_nobody() -> None:
    driver = TestDriver()
    for name in "ab":
        driver.add(name, slots=8)
    for _ in range(4):
        driver.report("b", ok=False)
    failed = driver.submit()
    driver.finish(driver.lease_of(failed), FAILED)
    assert failed in driver.waiting
    assert driver.node(driver.submit()) == "a"
    driver.tick(11.0)
    driver.report("b")
    assert driver.node(failed) == "b"


def test_models_that_share_a_node_are_served_by_age() -> None:
    driver = TestDriver()
    driver.add("a", "m", "n", slots=1)
    running = driver.submit("m")
    waiting = [driver.submit(model) for model in ("n", "m", "n", "n", "m")]
    served = []
    while driver.waiting:
        driver.finish(driver.lease_of(running))
        running = next(iter(driver.running.values()))
        served.append(running)
    assert served == waiting


def test_a_second_wait_has_its_own_time_limit() -> None:
    driver = TestDriver(queue_timeout_s=5.0)
    for name in "ab":
        driver.add(name, slots=1)
    first, _, twice = driver.submit(), driver.submit(), driver.submit()
    driver.tick(1.0)
    driver.finish(driver.lease_of(first))
    driver.tick(3.0)
    driver.finish(driver.lease_of(twice), FAILED)
    driver.tick(4.9)
    assert twice in driver.waiting
    driver.tick(0.2)
    assert driver.ended[twice] == "queue_timeout"


def test_queues_are_kept_for_those_who_wait_only() -> None:
    driver = TestDriver(queue_timeout_s=5.0)
    driver.add("a", slots=1)
    running = driver.submit()
    for leaving in (driver.submit(), driver.submit("adapter")):
        driver.cancel(leaving)
    driver.submit("another")
    placed = driver.submit()
    driver.finish(driver.lease_of(running))
    assert placed in driver.running.values()
    driver.tick(6.0)
    assert not driver.dispatcher.waiting.queues


def test_who_waited_in_vain_is_told_how_the_nodes_are() -> None:
    driver = TestDriver(queue_timeout_s=5.0)
    for name in "abc":
        driver.add(name)
    for name in "ab":
        driver.obey(driver.dispatcher.drain(name, 0.0))
    for _ in range(4):
        driver.report("c", ok=False, reason="refused")
    driver.submit()
    (order,) = [order for order in driver.dispatcher.tick(5.0) if isinstance(order, Refuse)]
    assert "within 5 s (nodes: 2 draining, 1 down); try again" in str(order.error)


def test_waiting_tickets_are_looked_at_when_only_time_passes() -> None:
    driver = TestDriver(busy_s=5.0)
    driver.add("a", slots=50)
    running, refused = driver.submit(), driver.submit()
    busy = Outcome(verdict=Verdict.BUSY, reason="status_429", status=429, delivered=True)
    driver.finish(driver.lease_of(refused), busy)
    waiting = driver.submit()
    assert waiting in driver.waiting
    while driver.now < 6.0:
        due = driver.dispatcher.next_deadline()
        assert due is not None
        driver.now = due
        driver.tick()
    assert {running, waiting} == set(driver.running.values())


def test_a_node_that_takes_the_place_of_a_failed_one_is_tried() -> None:
    driver = TestDriver()
    for name in "ab":
        driver.add(name, slots=1)
    failed = driver.submit()
    driver.submit()
    node = driver.node(failed)
    driver.finish(driver.lease_of(failed), FAILED)
    driver.obey(driver.dispatcher.remove_node(node, 0.0))
    driver.add("new", slots=1)
    assert driver.node(failed) == "new"


def test_nobody_is_woken_for_the_end_of_a_prefill_unless_a_request_waits_for_it() -> None:
    driver = TestDriver("fastest_completion")
    driver.add("a", slots=8)
    due = driver.dispatcher.next_deadline()
    driver.submit(tokens=24_000, stream=False)
    assert driver.dispatcher.next_deadline() == due
    columns = driver.dispatcher.fleet.columns
    ends = columns.prefill_base[0] + 24_000 * columns.prefill_per_token[0]
    columns.prediction_error[0] = 0.0
    assert driver.submit(tokens=10) in driver.waiting
    driver.now = ends
    waits = driver.dispatcher.next_deadline()
    assert waits is not None
    assert waits <= ends
    driver.tick()
    assert not driver.waiting


def test_whoever_waits_starts_before_a_request_that_comes_when_a_prefill_is_over() -> None:
    driver = TestDriver("fastest_completion")
    driver.add("a", slots=8)
    driver.submit(tokens=24_000, stream=False)
    driver.dispatcher.fleet.columns.prediction_error[0] = 0.0
    first = driver.submit(tokens=100)
    assert first in driver.waiting
    driver.now = 10.0
    second = driver.submit(tokens=100)
    assert driver.lease_of(first) < driver.lease_of(second)


def waiting_for_a_node_that_is_down() -> tuple[TestDriver, int]:
    """A ticket that failed on "a", which is up, and waits while "b" is down."""
    driver = TestDriver()
    for name in "ab":
        driver.add(name, slots=8)
    for _ in range(4):
        driver.report("b", ok=False)
    failed = driver.submit()
    driver.tick(1.0)
    driver.finish(driver.lease_of(failed), FAILED)
    driver.tick(1.0)
    assert failed in driver.waiting
    return driver, failed


def test_a_request_goes_back_to_the_only_node_in_use_once_that_has_answered_a_probe() -> None:
    driver, failed = waiting_for_a_node_that_is_down()
    driver.report("a")
    assert driver.node(failed) == "a"
    driver.finish(driver.lease_of(failed), FAILED)
    assert driver.ended[failed] != "ok", "it has had its tries"


def test_a_request_goes_back_to_the_only_node_in_use_once_that_has_served_another() -> None:
    driver, failed = waiting_for_a_node_that_is_down()
    other = driver.submit()
    assert failed in driver.waiting
    driver.finish(driver.lease_of(other))
    assert driver.node(failed) == "a"


def test_a_request_waits_for_the_other_node_while_that_is_only_full() -> None:
    driver = TestDriver()
    driver.add("a", slots=1)
    driver.add("b", slots=1)
    on_a = driver.submit()
    on_b = driver.submit()
    if driver.node(on_a) == "b":
        on_a, on_b = on_b, on_a
    driver.tick(1.0)
    driver.finish(driver.lease_of(on_a), FAILED)
    driver.tick(1.0)
    driver.report("a")
    assert on_a in driver.waiting
    driver.finish(driver.lease_of(on_b))
    assert driver.node(on_a) == "b"


def served(driver: TestDriver, running: int) -> list[int]:
    """The tickets in the order in which they get the one place there is."""
    order = []
    while driver.waiting:
        driver.finish(driver.lease_of(running))
        running = next(iter(driver.running.values()))
        order.append(running)
    return order


def test_tenants_take_turns_by_what_they_have_had() -> None:
    driver = TestDriver(order="fair")
    driver.add("a", slots=1)
    first = driver.submit(tenant="eager")
    eager = [driver.submit(tenant="eager") for _ in range(4)]
    meek = [driver.submit(tenant="meek") for _ in range(2)]
    order = served(driver, first)
    assert [ticket in meek for ticket in order[:4]].count(True) == 2
    assert [ticket for ticket in order if ticket in eager] == eager
    driver.rest()


def test_a_higher_class_goes_before_those_who_came_earlier() -> None:
    driver = TestDriver(order="priority")
    driver.add("a", slots=1)
    first = driver.submit()
    low, high = driver.submit(priority=0.5), driver.submit(priority=4.0)
    assert served(driver, first) == [high, low]


def test_the_client_that_wants_its_first_token_soonest_goes_first() -> None:
    driver = TestDriver(order="edf")
    driver.add("a", slots=1)
    first = driver.submit()
    patient, hasty = driver.submit(), driver.submit(ttft_slo_s=2.0)
    assert served(driver, first) == [hasty, patient]


def test_a_full_queue_is_shared_among_tenants() -> None:
    driver = TestDriver(order="fair", queue_limit=4)
    driver.add("a", slots=1)
    driver.submit(tenant="eager")
    eager = [driver.submit(tenant="eager") for _ in range(4)]
    meek = driver.submit(tenant="meek")
    assert driver.waiting == {*eager[:3], meek}
    assert driver.ended[eager[3]] == "queue_full"
    assert driver.ended[driver.submit(tenant="eager")] == "queue_full"


def test_a_new_order_applies_to_those_who_wait() -> None:
    driver = TestDriver()
    driver.add("a", slots=1)
    first = driver.submit()
    low, high = driver.submit(), driver.submit(priority=4.0)
    for order in ("fair", "priority"):
        driver.obey(driver.dispatcher.configure(BrainSettings(order=order), driver.now))
    assert served(driver, first) == [high, low]
    driver.rest()


def test_who_could_not_be_served_in_time_is_told_at_once() -> None:
    driver = TestDriver()
    driver.add("a", slots=1)
    running = driver.submit()
    first, _, last = driver.submit(ttft_slo_s=1.0), driver.submit(), driver.submit()
    assert first in driver.waiting, "nothing is known of how long a place takes"
    for _ in range(2):
        driver.tick(2.0)
        driver.finish(driver.lease_of(running))
        running = next(iter(driver.running.values()))
    assert driver.waiting == {last}
    orders = driver.dispatcher.submit(Request(id="x", model="m", prompt_tokens=10, ttft_slo_s=3.0), driver.now)
    (refusal,) = [order for order in orders if isinstance(order, Refuse)]
    assert (refusal.error.code, refusal.error.status) == ("deadline_unreachable", 503)
    assert refusal.error.retry_after_s == pytest.approx(4.0)
    assert driver.submit(ttft_slo_s=5.0) in driver.waiting
    driver.rest()
    assert not driver.dispatcher.waiting.queues


def test_a_queued_request_is_told_of_with_the_time_it_may_take() -> None:
    facts: list[Queued] = []
    driver = TestDriver(observers=[{Queued: facts.append}])
    driver.add("a", slots=1)
    running = driver.submit()
    driver.submit()
    driver.tick(2.0)
    driver.finish(driver.lease_of(running))
    for _ in range(2):
        driver.submit()
    assert [(fact.position, fact.expected_s) for fact in facts] == [(1, None), (1, 2.0), (2, 4.0)]
    driver.rest()
