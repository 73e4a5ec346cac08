"""Who waits, in every queue there is."""

from tests.support.driver import FAILED, TestDriver

from pointsman.brain.model.outcome import Verdict
from pointsman.brain.model.tenant import Tenant
from pointsman.observe.queues import oldest, queues


def line(**settings: object) -> TestDriver:
    """One node with one place, which is taken."""
    driver = TestDriver(**settings)
    driver.add("a", slots=1, kv_tokens=16_000)
    driver.submit(tokens=100, tenant="acme")
    return driver


def test_nobody_waits() -> None:
    driver = line()
    assert queues(driver.dispatcher, driver.now, 10) == []
    assert oldest(driver.dispatcher, driver.now) == {"m": 0.0}


def test_everyone_in_line_is_told_with_what_is_expected() -> None:
    driver = line()
    first = driver.submit()
    driver.tick(2.0)
    driver.submit()
    driver.finish(1)
    driver.submit()
    driver.tick(1.0)
    (queue,) = queues(driver.dispatcher, driver.now, 10)
    assert (queue.model, queue.apart, queue.order, queue.length) == ("m", "", "fcfs", 2)
    assert (queue.oldest_s, queue.interval_s) == (1.0, 2.0)
    assert [(one.position, one.request_id, one.waited_s, one.expected_s) for one in queue.first] == [
        (1, "r3", 1.0, 2.0),
        (2, "r4", 1.0, 4.0),
    ]
    assert driver.node(first) == "a"
    assert oldest(driver.dispatcher, driver.now) == {"m": 1.0}


def test_a_long_queue_is_told_by_its_head() -> None:
    driver = line(order="priority")
    for number in range(20):
        driver.submit(priority=2.0 ** (number % 4))
    (queue,) = queues(driver.dispatcher, driver.now, 3)
    assert queue.length == 20
    assert [(one.position, one.request_id) for one in queue.first] == [(1, "r5"), (2, "r9"), (3, "r13")]


def test_who_waits_apart_is_told_so() -> None:
    settings = {"long_context_tokens": 1000, "long_context_nodes": ("b",)}
    driver = line(tenants=(Tenant(name="acme", kv_share=0.5),), **settings)
    driver.add("b", slots=1, kv_tokens=16_000)
    for _ in range(2):
        driver.submit(tokens=5000)
        driver.submit(tenant="acme")
    driver.submit()
    apart = [queue.apart for queue in queues(driver.dispatcher, driver.now, 10)]
    assert apart == ["", "long prompts", "tenant acme"]


def test_what_a_node_failed_waits_for_the_others() -> None:
    driver = line()
    driver.add("b", slots=1)
    driver.submit()
    driver.submit()
    driver.finish(1, FAILED)
    assert [queue.apart for queue in queues(driver.dispatcher, driver.now, 10)] == ["failed on a"]


def test_an_answer_that_was_interrupted_waits_since_it_came() -> None:
    driver = TestDriver()
    driver.add("a", slots=1)
    driver.submit(resumable=True)
    driver.submit()
    driver.first_token(1)
    driver.tokens(1, 40)
    driver.tick(5.0)
    driver.finish(1, driver.lost(1, "preempted", Verdict.INTERRUPTED))
    (queue,) = queues(driver.dispatcher, driver.now, 10)
    (one,) = queue.first
    assert (one.request_id, one.waited_s, one.interruptions, one.prompt_tokens) == ("r1", 5.0, 1, 141)
