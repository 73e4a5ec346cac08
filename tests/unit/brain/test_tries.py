"""A request that lost its node is given another, with what was delivered for a part of its prompt."""

from tests.support.driver import TestDriver

from pointsman.brain.life.resume import DEFRAGMENTED, MOST_INTERRUPTIONS
from pointsman.brain.model.facts import FirstToken, Interrupted, Resumed
from pointsman.brain.model.outcome import Outcome, Verdict


def cut(tokens: int, **more: object) -> Outcome:
    return Outcome(
        verdict=Verdict.FAIL, reason="reset", delivered=True, resumable=True, new_tokens=tokens, **more  # type: ignore[arg-type]
    )  # fmt: skip


def driver_of(nodes: str, **settings: object) -> TestDriver:
    driver = TestDriver("round_robin", **settings)
    for node in nodes:
        driver.add(node, slots=100)
    return driver


def test_the_next_node_is_another_one_and_its_prompt_longer() -> None:
    driver = driver_of("ab")
    ticket = driver.submit(tokens=100)
    inside = driver.dispatcher._tickets[ticket]
    expected = inside.output_tokens
    before, lease = driver.node(ticket), driver.lease_of(ticket)
    driver.finish(lease, cut(10))
    assert driver.node(ticket) != before
    assert (inside.prompt_tokens, inside.output_tokens, inside.delivered_tokens) == (110, expected - 10, 10)


def test_neither_the_budget_nor_the_number_of_tries_counts() -> None:
    driver = driver_of("abcd", tries=1, retry_floor=0, retry_share=0.0)
    ticket = driver.submit(stream=True)
    for _ in range(MOST_INTERRUPTIONS):
        driver.finish(driver.lease_of(ticket), cut(1))
    assert driver.dispatcher._retries.in_flight == 0
    driver.finish(driver.lease_of(ticket), cut(1))
    assert driver.dispatcher.at_rest()


def test_with_no_other_node_it_is_over() -> None:
    driver = driver_of("a")
    ticket = driver.submit(stream=True)
    driver.finish(driver.lease_of(ticket), cut(1))
    assert driver.dispatcher.at_rest()


def test_what_was_not_begun_is_sent_again_when_it_is_interrupted() -> None:
    driver = driver_of("ab", tries=1)
    ticket = driver.submit(stream=True)
    before = driver.node(ticket)
    driver.finish(driver.lease_of(ticket), Outcome(verdict=Verdict.INTERRUPTED, reason="drain", delivered=False))
    assert driver.node(ticket) != before


def test_it_is_told_of() -> None:
    driver = driver_of("ab")
    told: list[object] = []
    driver.dispatcher.subscribe(dict.fromkeys((FirstToken, Interrupted, Resumed), told.append))
    ticket = driver.submit(stream=True)
    first = driver.node(ticket)
    driver.first_token(driver.lease_of(ticket))
    driver.finish(driver.lease_of(ticket), cut(10))
    driver.first_token(driver.lease_of(ticket))
    began, interrupted, resumed = told
    assert isinstance(began, FirstToken)
    assert isinstance(interrupted, Interrupted)
    assert (interrupted.node, interrupted.tokens, interrupted.cause, interrupted.resumed) == (first, 10, "reset", True)
    assert isinstance(resumed, Resumed)
    assert (resumed.node, resumed.tokens) == (driver.node(ticket), 10)


def test_who_gave_way_for_others_still_goes_on_when_its_node_is_lost() -> None:
    driver = driver_of("abcde")
    ticket = driver.submit(stream=True)
    for _ in range(MOST_INTERRUPTIONS):
        gave = Outcome(verdict=Verdict.INTERRUPTED, reason=DEFRAGMENTED, delivered=True, resumable=True, new_tokens=1)
        driver.finish(driver.lease_of(ticket), gave)
    for _ in range(MOST_INTERRUPTIONS):
        driver.finish(driver.lease_of(ticket), cut(1))
        assert not driver.dispatcher.at_rest()
    driver.finish(driver.lease_of(ticket), cut(1))
    assert driver.dispatcher.at_rest()
