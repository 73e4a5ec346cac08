"""From a ticket to a lease."""

import numpy as np
import pytest
from tests.support.driver import FAILED, TestDriver, chain

from pointsman.brain.model.choice import Choice
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.brain.model.sharing import PeerReport


def driver_of(policy: str = "least_requests", **more: object) -> TestDriver:
    driver = TestDriver(policy)
    for name in "ab":
        driver.add(name, **{"slots": 50, "kv_tokens": 16_000, **more})
    return driver


def test_overlap_is_never_more_than_the_prompt() -> None:
    driver = driver_of("prefix_affinity")
    long = driver.submit(tokens=80, chain=chain(1, 2, 3, 4, 5))
    driver.finish(driver.lease_of(long))
    short = driver.submit(tokens=50, chain=chain(1, 2, 3, 4, 5))
    lease = driver.dispatcher._leases[driver.lease_of(short)]
    assert lease.overlap_tokens == 50
    assert lease.booking.backlog_tokens == 0


def test_a_lease_books_what_is_not_cached_and_reserves_prompt_and_answer() -> None:
    driver = driver_of("prefix_affinity")
    driver.finish(driver.lease_of(driver.submit(tokens=48, chain=chain(1, 2, 3))))
    lease = driver.dispatcher._leases[driver.lease_of(driver.submit(tokens=100, chain=chain(1, 2, 3, 4), max_tokens=1))]
    assert lease.booking.backlog_tokens == 100 - 48
    assert lease.blocks == 7


def test_what_is_expected_of_one_node_is_what_the_view_says_of_it() -> None:
    driver = driver_of("round_robin")
    driver.add("c", slots=1)
    driver.finish(driver.lease_of(driver.submit(tokens=48, chain=chain(1, 2, 3))))
    for _ in range(3):
        driver.submit(tokens=3000)
    cells = driver.dispatcher.fleet.cells
    for row in range(3):
        cells.prefill_base[row], cells.prefill_per_token[row], cells.prefill_per_pair[row] = (
            0.01,
            1e-4 * (1 + row),
            3e-8,
        )
    ticket = driver.dispatcher._tickets[driver.submit(tokens=2000, chain=chain(1, 2, 3, 4))]
    placement = driver.dispatcher.placement
    view = placement.view(ticket, 0.0)
    assert view is not None
    assert (len(view), view.whole) == (2, False)
    assert view.overlap.any()
    predicted = (view.backlog_seconds + view.prefill_seconds).tolist()
    scores = np.zeros(len(view))
    leases = [placement.book(ticket, view, Choice(index, scores, ""), index, 0.0) for index in range(len(view))]
    assert [lease.expected_s for lease in leases] == pytest.approx(predicted)


def test_a_node_at_its_cap_is_no_candidate() -> None:
    driver = driver_of(slots=1)
    assert {driver.node(driver.submit()), driver.node(driver.submit())} == {"a", "b"}
    waiting = driver.submit()
    assert waiting in driver.waiting


def test_only_the_failed_node_is_excluded_from_the_second_try() -> None:
    driver = driver_of()
    driver.add("c", slots=50)
    ticket = driver.submit()
    failed = driver.node(ticket)
    driver.finish(driver.lease_of(ticket), FAILED)
    view = driver.dispatcher.placement.view(driver.dispatcher._tickets[ticket], 0.0)
    assert view is not None
    names = {driver.dispatcher.fleet.spec(int(row)).name for row in view.nodes}
    assert names == {"a", "b", "c"} - {failed}


def test_room_in_links_follows_capacity_and_link_size() -> None:
    driver = driver_of("round_robin")
    index = driver.dispatcher.placement.index
    driver.submit(chain=chain(1, tokens_per_link=16.0))
    assert index.capacity(0) == 1000
    driver.submit(chain=chain(2, tokens_per_link=16.0))
    driver.submit(chain=chain(3, tokens_per_link=64.0))
    assert index.capacity(0) == 250


def test_room_shrinks_when_the_engine_reports_less_cached_than_believed() -> None:
    driver = driver_of("prefix_affinity")
    index = driver.dispatcher.placement.index
    missed = Outcome(verdict=Verdict.OK, prompt_tokens=64, completion_tokens=5, cached_tokens=0)
    for _ in range(20):
        ticket = driver.submit(tokens=64, chain=chain(1, 2, 3, 4))
        node = driver.dispatcher.fleet.row_of[driver.node(ticket)]
        driver.first_token(driver.lease_of(ticket))
        driver.finish(driver.lease_of(ticket), missed)
    assert index.capacity(node) < 300


def test_cached_blocks_show_in_the_columns() -> None:
    driver = driver_of("round_robin")
    driver.submit(tokens=64, chain=chain(1, 2, 3, 4))
    assert driver.dispatcher.fleet.columns.kv_cached[0] == 4


@pytest.mark.parametrize("policy", ["two_choices", "jiq", "random"])
def test_equal_seeds_give_equal_choices(policy: str) -> None:
    def nodes(seed: int) -> list[str]:
        driver = TestDriver(policy, seed=seed)
        for name in "abcd":
            driver.add(name, slots=50)
        return [driver.node(driver.submit()) for _ in range(30)]

    assert nodes(1) == nodes(1)
    assert nodes(1) != nodes(2)


def test_another_that_is_told_its_beliefs_believes_the_same() -> None:
    here, there = driver_of(), driver_of()
    for number in range(8):
        here.submit(tokens=160, chain=chain(*range(number % 3), *range(100 * number, 100 * number + 8)))
    sent = here.dispatcher.placement.beliefs(1000)
    there.dispatcher.hear(PeerReport(gateways=2, sent=sent), there.now)
    rows = len(here.dispatcher.fleet)
    for number in range(8):
        links = chain(*range(number % 3), *range(100 * number, 100 * number + 8)).links
        depths = [each.dispatcher.placement.index.depths(links, rows).tolist() for each in (here, there)]
        assert depths[0] == depths[1]
        assert max(depths[0]) == len(links)
    assert len(here.dispatcher.placement.beliefs(20)) < len(sent)


def test_blocks_are_reserved_for_the_quantile_of_answers_that_settings_ask_for() -> None:
    driver = TestDriver("least_requests", output_quantile=1.0)
    driver.add("a", kv_tokens=16_000)
    lease = driver.dispatcher._leases[driver.lease_of(driver.submit(tokens=160, max_tokens=3200))]
    assert lease.blocks == 10 + 200
    assert lease.booking.context_tokens < 160 + 3200, "what is expected is booked apart"


def test_greedy_waits_for_memory_and_takes_it_when_it_frees() -> None:
    driver = TestDriver("greedy", output_quantile=1.0)
    driver.add("a", kv_tokens=1600)
    first = driver.submit(tokens=800, max_tokens=160)
    second = driver.submit(tokens=800, max_tokens=160)
    assert driver.waiting == {second}
    small = driver.submit(tokens=160, max_tokens=16)
    assert driver.waiting == {second}, "the later one fits beside the first: it goes at once"
    driver.finish(driver.lease_of(first))
    assert not driver.waiting
    assert driver.node(second) == driver.node(small) == "a"
    driver.rest()


@pytest.mark.parametrize(("layout", "waits"), [("paged", False), ("buddy", True)])
def test_greedy_waits_where_there_is_enough_but_not_in_one_piece(layout: str, waits: bool) -> None:
    driver = TestDriver("greedy", output_quantile=1.0)
    driver.add("a", kv_tokens=64 * 16, kv_layout=layout)
    tickets = [driver.submit(tokens=8 * 16 - 1, max_tokens=1) for _ in range(8)]
    for ticket in tickets[::2]:
        driver.finish(driver.lease_of(ticket))
    long = driver.submit(tokens=9 * 16 - 1, max_tokens=1)
    assert (long in driver.waiting) == waits
    driver.finish(driver.lease_of(tickets[1]))
    assert not driver.waiting
    driver.rest()
