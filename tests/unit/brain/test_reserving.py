"""The peak of what the requests of a node will hold, and each one's part of it."""

import numpy as np
import pytest
from tests.support.driver import TestDriver

from pointsman.brain.load.output_length import FIRST_GUESS
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.brain.reserving import shares_of_peak

NODE = {"kv_tokens": 64_000, "block_tokens": 16, "slots": 64}


def peak(held, alive, rows=(0, 0), margin=0.0):
    return shares_of_peak(np.array(held, float), np.array(alive, float), np.array(rows, dtype=np.intp), margin)


def test_one_that_ends_soon_gives_back_before_the_other_holds_most() -> None:
    """Now 100 + 50; ten tokens on 110 + 60; a hundred on the second alone with 150."""
    held = [[100, 110, 200], [50, 60, 150]]
    assert peak(held, [[1, 1, 0], [1, 1, 1]]) == pytest.approx([110, 60])
    assert peak(held, [[1, 1, 1], [1, 1, 1]]) == pytest.approx([200, 150])
    assert peak(held, [[1, 0, 0], [1, 0, 0]]) == pytest.approx([100, 50])


def test_each_node_has_a_peak_of_its_own() -> None:
    held = [[100, 110, 200], [50, 60, 150]]
    assert peak(held, [[1, 1, 0], [1, 1, 1]], rows=(3, 1)) == pytest.approx([110, 150])


def test_the_margin_is_of_what_nobody_knows() -> None:
    sure = peak([[100, 200]], [[1, 1]], rows=(0,), margin=2.0)
    assert sure == pytest.approx([200])
    doubtful = peak([[100, 400], [100, 400]], [[1, 0.5], [1, 0.5]], margin=1.0)
    assert doubtful.sum() == pytest.approx(400 + (2 * 200 * 200) ** 0.5)


def test_a_request_counts_for_more_when_it_outgrows_what_was_expected() -> None:
    driver = TestDriver("greedy", reserve="peak")
    driver.add("a", **NODE)
    for _ in range(40):
        driver.finish(driver.lease_of(driver.submit(tokens=100)), answer(100))
    lease = driver.lease_of(driver.submit(tokens=160))
    at_first = driver.dispatcher.tickets()[0].lease.blocks
    driver.first_token(lease)
    driver.tokens(lease, 2_000)
    driver.tick(1.0)
    held = driver.dispatcher.tickets()[0].lease.blocks
    assert at_first < 25
    assert held >= (160 + 2_000) / 16
    driver.finish(lease, answer(2_100))
    driver.rest()


def test_many_that_will_not_all_be_there_at_once_count_for_less_than_their_sum() -> None:
    booked, counted = (reserved_by_twenty(reserve) for reserve in ("answer", "peak"))
    assert booked == 20 * -(-(100 + FIRST_GUESS) // 16)
    assert counted < 0.8 * booked


def reserved_by_twenty(reserve: str) -> float:
    driver = TestDriver("least_requests", reserve=reserve, reserve_margin=0.0)
    driver.add("a", **NODE)
    tickets = [driver.submit(tokens=100) for _ in range(20)]
    driver.tick(1.0)
    reserved = driver.dispatcher.fleet.cells.kv_reserved[0]
    for ticket in tickets:
        driver.finish(driver.lease_of(ticket))
    driver.rest()
    return reserved


def test_nobody_counts_for_more_than_it_may_put_out() -> None:
    driver = TestDriver("least_requests", reserve="peak", reserve_margin=0.0)
    driver.add("a", **NODE)
    lease = driver.lease_of(driver.submit(tokens=160, max_tokens=32))
    driver.tick(1.0)
    assert driver.dispatcher.fleet.cells.kv_reserved[0] <= 12
    driver.finish(lease)
    driver.rest()


def test_pieces_of_a_given_size_stay_as_they_are() -> None:
    driver = TestDriver("least_requests", reserve="peak")
    driver.add("a", **NODE, kv_layout="buddy")
    lease = driver.lease_of(driver.submit(tokens=100))
    before = driver.dispatcher.fleet.cells.kv_reserved[0]
    driver.first_token(lease)
    driver.tokens(lease, 5_000)
    driver.tick(1.0)
    assert driver.dispatcher.fleet.cells.kv_reserved[0] == before
    driver.finish(lease)
    driver.rest()


def test_it_can_be_switched_on_while_running() -> None:
    driver = TestDriver("least_requests")
    driver.add("a", **NODE)
    tickets = [driver.submit(tokens=100) for _ in range(20)]
    before = driver.dispatcher.fleet.cells.kv_reserved[0]
    settings = driver.dispatcher.settings
    driver.obey(driver.dispatcher.configure(type(settings)(reserve="peak", reserve_margin=0.0), driver.now))
    driver.tick(1.0)
    assert driver.dispatcher.fleet.cells.kv_reserved[0] < before
    for ticket in tickets:
        driver.finish(driver.lease_of(ticket))
    driver.rest()


def answer(tokens: int) -> Outcome:
    return Outcome(verdict=Verdict.OK, prompt_tokens=100, completion_tokens=tokens)
