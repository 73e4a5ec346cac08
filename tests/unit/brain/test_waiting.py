"""Who goes next when room appears."""

from tests.support.driver import TestDriver, chain

from pointsman.brain.model.outcome import Outcome, Verdict


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
    assert driver.dispatcher.queued() == {"m": 1}


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
