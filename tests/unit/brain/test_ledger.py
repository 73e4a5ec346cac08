"""Requests and tokens in flight: what goes up comes down."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.brain.fleet import Fleet
from pointsman.brain.ledger import Booking, Ledger, _Ends
from pointsman.brain.model.node import NodeSpec

COUNTED = ("outstanding", "running", "backlog_tokens", "backlog_pairs", "context_tokens")
STEPS = st.lists(st.sampled_from(["prefilled", "running", "release"]), max_size=6)


def ledger_of(nodes: int) -> tuple[Fleet, Ledger]:
    fleet = Fleet(8)
    for number in range(nodes):
        fleet.add(NodeSpec(url=f"http://{number}"))
    return fleet, Ledger(fleet)


def test_a_booking_is_seen_at_once() -> None:
    fleet, ledger = ledger_of(1)
    ledger.book(0, 700, 7000, 1000, 0.0)
    ledger.book(0, 50, 500, 60, 0.0)
    columns = fleet.columns
    assert [getattr(columns, name)[0] for name in COUNTED] == [2, 0, 750, 7500, 1060]


def test_the_first_token_ends_the_prefill_and_starts_the_decode() -> None:
    fleet, ledger = ledger_of(1)
    booking = ledger.book(0, 700, 7000, 1000, 0.0)
    ledger.running(booking, 1.0)
    ledger.running(booking, 1.0)
    assert fleet.columns.backlog_tokens[0] == 0
    assert fleet.columns.running[0] == 1


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 10**6), st.integers(0, 10**6), STEPS), max_size=25))
def test_all_sums_return_to_zero_whatever_the_order(bookings: list[tuple[int, int, int, list[str]]]) -> None:
    fleet, ledger = ledger_of(3)
    booked = [(ledger.book(row, miss, 3 * miss, context, 0.0), steps) for row, miss, context, steps in bookings]
    for booking, steps in booked:
        for step in steps:
            getattr(ledger, step)(booking, 1.0)
    for booking, _ in booked:
        ledger.release(booking, 2.0)
    for name in COUNTED:
        assert not getattr(fleet.columns, name).any()


def test_a_prefill_that_nothing_shows_is_over_when_it_was_predicted_to_be() -> None:
    fleet, ledger = ledger_of(1)
    assert ledger.next_end == inf
    late, early = ledger.book(0, 700, 7000, 1000, 0.0), ledger.book(0, 50, 500, 60, 0.0)
    ledger.expect(late, 2.0)
    ledger.expect(early, 1.0)
    assert ledger.next_end == 1.0
    ledger.settle(1.5)
    assert (fleet.columns.backlog_tokens[0], ledger.next_end) == (700, 2.0)
    ledger.release(late, 2.0)
    ledger.settle(9.0)
    assert (fleet.columns.backlog_tokens[0], ledger.next_end) == (0, inf)


def working_node() -> tuple[Fleet, Ledger]:
    """One node that computes 1000 tokens a second and tells so 0.1 s later."""
    fleet, ledger = ledger_of(1)
    fleet.columns.prefill_per_token[0], fleet.columns.prefill_base[0] = 0.001, 0.1
    return fleet, ledger


def test_the_oldest_prompt_is_computed_as_time_goes_by() -> None:
    fleet, ledger = working_node()
    ledger.book(0, 5000, 0, 6000, 10.0)
    ledger.book(0, 3000, 0, 4000, 11.0)
    ledger.refresh(12.0)
    assert fleet.columns.prefilled_seconds[0] == 2.0


def test_a_node_is_no_further_than_its_oldest_prompt_and_what_it_tells_late() -> None:
    fleet, ledger = working_node()
    ledger.book(0, 5000, 0, 6000, 10.0)
    ledger.refresh(15.0)
    assert fleet.columns.prefilled_seconds[0] == 5.0
    ledger.book(0, 3000, 0, 4000, 15.0)
    ledger.refresh(15.1)
    assert fleet.columns.prefilled_seconds[0] == pytest.approx(5.0 + 0.1)


def test_what_is_overdue_is_taken_to_need_as_long_again() -> None:
    fleet, ledger = working_node()
    ledger.book(0, 5000, 0, 6000, 10.0)
    ledger.book(0, 3000, 0, 4000, 11.0)
    ledger.refresh(10.0 + 5.1 + 2.0)
    assert fleet.columns.prefilled_seconds[0] == pytest.approx(5.1 - 2.0)


def test_the_node_turned_to_the_next_prompt_before_the_end_of_the_last_was_heard() -> None:
    fleet, ledger = working_node()
    first, _ = ledger.book(0, 5000, 0, 6000, 10.0), ledger.book(0, 3000, 0, 4000, 11.0)
    ledger.running(first, 15.1)
    assert fleet.columns.prefilled_seconds[0] == pytest.approx(0.1)
    ledger.refresh(16.1)
    assert fleet.columns.prefilled_seconds[0] == pytest.approx(1.1)


def test_a_younger_prompt_that_is_given_up_leaves_the_oldest_as_far_as_it_was() -> None:
    fleet, ledger = working_node()
    ledger.book(0, 5000, 0, 6000, 10.0)
    younger = ledger.book(0, 3000, 0, 4000, 11.0)
    ledger.refresh(12.0)
    ledger.release(younger, 12.0)
    ledger.refresh(12.5)
    assert fleet.columns.prefilled_seconds[0] == 2.5


def test_an_idle_node_has_done_nothing_of_the_next_prompt() -> None:
    fleet, ledger = working_node()
    ledger.release(ledger.book(0, 5000, 0, 6000, 10.0), 16.0)
    ledger.refresh(20.0)
    assert fleet.columns.prefilled_seconds[0] == 0.0
    ledger.book(0, 1000, 0, 1000, 30.0)
    ledger.refresh(30.25)
    assert fleet.columns.prefilled_seconds[0] == 0.25


@given(st.lists(st.sampled_from([0.5, 1.0, 2.0, 2.5, 4.0]), max_size=40), st.data())
def test_predicted_ends_come_in_order_and_equal_ones_in_that_of_their_bookings(
    ends: list[float], data: st.DataObject
) -> None:
    heap, left, bookings = _Ends(), list[tuple[float, int]](), list[Booking]()
    for number, end in enumerate(ends):
        bookings.append(Booking(0, 1, 1, 1))
        heap.push(bookings[-1], end)
        left = sorted([*left, (end, number)])
        if data.draw(st.booleans()):
            assert heap.pop() is bookings[left.pop(0)[1]]
        assert heap.next() == (left[0][0] if left else inf)
    assert [heap.pop() for _ in left] == [bookings[number] for _, number in left]
