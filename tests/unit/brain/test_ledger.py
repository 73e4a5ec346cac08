"""Requests and tokens in flight: what goes up comes down."""

from math import inf

from hypothesis import given
from hypothesis import strategies as st

from pointsman.brain.fleet import Fleet
from pointsman.brain.ledger import Ledger
from pointsman.brain.model.node import NodeSpec

COUNTED = ("outstanding", "running", "backlog_tokens", "context_tokens")
STEPS = st.lists(st.sampled_from(["prefilled", "running", "release"]), max_size=6)


def ledger_of(nodes: int) -> tuple[Fleet, Ledger]:
    fleet = Fleet(8)
    for number in range(nodes):
        fleet.add(NodeSpec(url=f"http://{number}"))
    return fleet, Ledger(fleet)


def test_a_booking_is_seen_at_once() -> None:
    fleet, ledger = ledger_of(1)
    ledger.book(0, 700, 1000)
    ledger.book(0, 50, 60)
    columns = fleet.columns
    assert [getattr(columns, name)[0] for name in COUNTED] == [2, 0, 750, 1060]


def test_the_first_token_ends_the_prefill_and_starts_the_decode() -> None:
    fleet, ledger = ledger_of(1)
    booking = ledger.book(0, 700, 1000)
    ledger.running(booking)
    ledger.running(booking)
    assert fleet.columns.backlog_tokens[0] == 0
    assert fleet.columns.running[0] == 1


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 10**6), st.integers(0, 10**6), STEPS), max_size=25))
def test_all_sums_return_to_zero_whatever_the_order(bookings: list[tuple[int, int, int, list[str]]]) -> None:
    fleet, ledger = ledger_of(3)
    booked = [(ledger.book(row, miss, context), steps) for row, miss, context, steps in bookings]
    for booking, steps in booked:
        for step in steps:
            getattr(ledger, step)(booking)
    for booking, _ in booked:
        ledger.release(booking)
    for name in COUNTED:
        assert not getattr(fleet.columns, name).any()


def test_a_prefill_that_nothing_shows_is_over_when_it_was_predicted_to_be() -> None:
    fleet, ledger = ledger_of(1)
    assert ledger.next_end == inf
    late, early = ledger.book(0, 700, 1000), ledger.book(0, 50, 60)
    ledger.expect(late, 2.0)
    ledger.expect(early, 1.0)
    assert ledger.next_end == 1.0
    ledger.settle(1.5)
    assert (fleet.columns.backlog_tokens[0], ledger.next_end) == (700, 2.0)
    ledger.release(late)
    ledger.settle(9.0)
    assert (fleet.columns.backlog_tokens[0], ledger.next_end) == (0, inf)
