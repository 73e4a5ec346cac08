"""What leases teach."""

import pytest
from tests.support.driver import TestDriver

from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.outcome import Outcome, Verdict


def one_node(**more: object) -> TestDriver:
    driver = TestDriver()
    driver.add("a", slots=50, **more)
    return driver


def test_declared_hardware_gives_the_first_rates() -> None:
    unknown = one_node().dispatcher.fleet.columns
    known = one_node(profile="Llama-3-8B", hardware="H100").dispatcher.fleet.columns
    assert known.prefill_per_token[0] < 0.5 * unknown.prefill_per_token[0]
    assert 0.002 < known.tpot_base[0] < 0.02


def test_a_slow_node_is_seen_to_be_slow() -> None:
    driver = TestDriver("round_robin")
    driver.add("fast", slots=50)
    driver.add("slow", slots=50)
    for _ in range(40):
        begun = driver.now
        pair = [driver.submit(tokens=8000) for _ in range(2)]
        for ticket, seconds in zip(pair, (1.0, 4.0), strict=True):
            driver.now = begun + seconds
            driver.first_token(driver.lease_of(ticket))
            driver.finish(driver.lease_of(ticket))
    columns = driver.dispatcher.fleet.columns
    assert columns.prefill_per_token[1] > 2.5 * columns.prefill_per_token[0]
    assert columns.response_seconds[1] > columns.response_seconds[0]
    driver.tick(0.2)
    assert columns.speed[0] > 1.0 > columns.speed[1]


def test_tokens_per_byte_and_output_length_are_learned_from_usage() -> None:
    driver = one_node()
    estimates = driver.dispatcher.estimates
    for _ in range(60):
        ticket = driver.submit(tokens=0, prompt_bytes=6000, max_tokens=4000)
        driver.finish(driver.lease_of(ticket), Outcome(verdict=Verdict.OK, prompt_tokens=2000, completion_tokens=40))
    ticket = driver.submit(tokens=0, prompt_bytes=3000, max_tokens=4000)
    sized = driver.dispatcher._tickets[ticket]
    assert sized.prompt_tokens == pytest.approx(1000, rel=0.1)
    assert sized.output_tokens == pytest.approx(40, rel=0.5)
    assert estimates.load()[0] < 1.0


def test_failures_teach_nothing_about_speed() -> None:
    driver = one_node()
    before = driver.dispatcher.fleet.columns.service_seconds[0]
    ticket = driver.submit()
    driver.now = 500.0
    driver.finish(driver.lease_of(ticket), Outcome(verdict=Verdict.FAIL, reason="reset", delivered=True))
    assert driver.dispatcher.fleet.columns.service_seconds[0] == before


def test_seconds_between_tokens_need_a_stream_and_two_tokens() -> None:
    driver = one_node()
    dispatcher = driver.dispatcher
    ticket = driver.submit()
    lease = dispatcher._leases[driver.lease_of(ticket)]
    driver.now = 1.0
    driver.first_token(lease.id)
    one = Outcome(verdict=Verdict.OK, completion_tokens=1)
    assert dispatcher.estimates.ended(lease, one, 2.0) is None
    eleven = Outcome(verdict=Verdict.OK, completion_tokens=11)
    assert dispatcher.estimates.ended(lease, eleven, 2.0) == pytest.approx(0.1)


def test_a_node_that_left_has_no_part_in_the_medians() -> None:
    driver = TestDriver()
    for name, hardware in (("fast", "H100"), ("a", "A100-80G"), ("b", "A100-80G")):
        driver.add(name, hardware=hardware, profile="Llama-3-8B")
    columns = driver.dispatcher.fleet.columns
    tickets = [driver.submit() for _ in range(3)]
    for ticket in sorted(tickets, key=driver.node):
        driver.now += 1.0
        driver.first_token(driver.lease_of(ticket))
    driver.rest()
    assert columns.speed[0] > 1.0
    for name in "ab":
        driver.obey(driver.dispatcher.remove_node(name, driver.now))
    assert columns.speed[0] == 1.0
    driver.tick(1.0)
    driver.add("new")
    driver.tick(1.0)
    row = driver.dispatcher.fleet.row_of["new"]
    assert columns.response_seconds[row] == columns.response_seconds[0]


def test_recovery_is_sampled_on_the_agenda() -> None:
    driver = TestDriver(recovery_sample_s=1.0)
    driver.add("a", slots=10)
    tickets = [driver.submit() for _ in range(8)]
    for ticket in tickets:
        driver.tick(1.0)
        driver.finish(driver.lease_of(ticket))
    driver.tick(1.0)
    assert driver.dispatcher.fleet.columns.recovery_slope[0] > 0.0
    assert NodeSpec(url="x").name == "x"


def test_accounts_return_to_zero_whatever_engines_count() -> None:
    driver = one_node()
    columns = driver.dispatcher.fleet.columns

    def submit(size: int) -> int:
        return driver.lease_of(driver.submit(tokens=0, prompt_bytes=size, max_tokens=4000))

    driver.finish(submit(10), Outcome(verdict=Verdict.OK, prompt_tokens=10**30, completion_tokens=10**30))
    leases = [submit(size) for size in (7, 60_000_001, 13, 60_000_003)]
    assert columns.backlog_tokens[0] >= 10**9
    for lease in leases:
        driver.finish(lease)
    assert columns.backlog_tokens[0] == columns.context_tokens[0] == columns.kv_reserved[0] == 0.0


def test_work_of_late_is_the_prefill_and_the_answer_of_what_was_sent() -> None:
    driver = one_node()
    columns = driver.dispatcher.fleet.columns
    ticket = driver.submit(tokens=8000, max_tokens=100)
    answer = driver.dispatcher._tickets[ticket].output_tokens
    expected = 8000 * columns.prefill_per_token[0] + answer * columns.tpot_base[0]
    assert columns.recent_work[0] == pytest.approx(expected)
    driver.now = 60.0
    driver.first_token(driver.lease_of(ticket))
    driver.finish(driver.lease_of(ticket))
    assert columns.recent_work[0] == pytest.approx(expected)
    driver.tick(181.0)
    assert columns.recent_work[0] == 0.0


def test_tokens_sent_count_until_the_node_tells_its_load() -> None:
    driver = one_node()
    columns = driver.dispatcher.fleet.columns
    driver.finish(driver.lease_of(driver.submit(tokens=300)))
    driver.submit(tokens=50)
    assert columns.sent_tokens[0] == 350.0
    driver.report("a")
    assert columns.sent_tokens[0] == 350.0
    driver.report("a", waiting=0)
    assert columns.sent_tokens[0] == 0.0
    driver.submit(tokens=7)
    driver.report("a", load=0.1)
    assert columns.sent_tokens[0] == 0.0


def test_a_busy_node_is_learned_from_by_some_answers_of_a_second_as_well_as_by_all() -> None:
    """1,000 answers a second: after one second of them the rates are those of the node."""
    driver = one_node()
    seconds = 1e-3
    for number in range(1000):
        driver.now = number * seconds
        ticket = driver.submit(tokens=0, prompt_bytes=3000)
        driver.now += 0.5 * seconds
        driver.finish(driver.lease_of(ticket), Outcome(verdict=Verdict.OK, prompt_tokens=1000, completion_tokens=40))
    estimates, columns = driver.dispatcher.estimates, driver.dispatcher.fleet.columns
    assert columns.service_seconds[0] < 5e-3, "it began at a guess of a second"
    assert estimates.tokens_per_byte.bytes_per_token("m") == pytest.approx(3.0, rel=0.05)
    assert estimates.output_length.expect("m", "") == pytest.approx(40, rel=0.5)


def test_responses_are_remembered_by_the_queue_they_met() -> None:
    driver = one_node()
    columns = driver.dispatcher.fleet.columns
    for _ in range(20):
        begun = driver.now
        pair = [driver.lease_of(driver.submit()) for _ in range(2)]
        for lease, seconds in zip(pair, (0.1, 0.4), strict=True):
            driver.now = begun + seconds
            driver.first_token(lease)
            driver.finish(lease)
    driver.tick(1.0)
    assert columns.response_at_queue[0] == pytest.approx(0.1)
    driver.submit()
    driver.tick(1.0)
    assert columns.response_at_queue[0] == pytest.approx(0.4)


def test_plain_answers_have_typical_responses_too_and_a_fall_forgets_them() -> None:
    driver = one_node()
    estimates, columns = driver.dispatcher.estimates, driver.dispatcher.fleet.columns
    lease = driver.lease_of(driver.submit(stream=False))
    driver.now = 3.0
    driver.finish(lease)
    driver.tick(1.0)
    assert columns.response_at_queue[0] == pytest.approx(3.0)
    estimates.fell(0, driver.now)
    columns.response_seconds[0] = 0.5
    driver.tick(1.0)
    assert columns.response_at_queue[0] == 0.5  # nothing of its own any more
