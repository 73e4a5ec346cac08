"""The waiting queue."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.brain.admission.fairness import TokenCounters
from pointsman.brain.admission.order import EarliestDeadline, Fair, GreatestUtility, Order, Priority, Waiter
from pointsman.brain.admission.queue import Queue


def queue_of(*tickets: int, overtakes: int = 2) -> Queue:
    queue = Queue(Order(), overtake_limit=overtakes)
    for position, ticket in enumerate(tickets, 1):
        assert queue.join(Waiter(ticket)) == position
    return queue


def test_first_come_first_served() -> None:
    queue = queue_of(7, 8, 9)
    assert queue.head == queue.oldest == 7
    assert queue.window(2) == [7, 8]
    queue.take(7)
    assert queue.window(2) == [8, 9]
    assert [queue.position(ticket) for ticket in (8, 9)] == [1, 2]


def test_leaving_is_possible_from_anywhere_and_once() -> None:
    queue = queue_of(1, 2, 3)
    assert queue.leave(2)
    assert not queue.leave(2)
    assert queue.window(9) == queue.tickets() == [1, 3]


def test_a_ticket_overtaken_too_often_is_offered_alone() -> None:
    queue = queue_of(1, 2, 3, 4)
    queue.take(3)
    assert queue.window(9) == [1, 2, 4]
    queue.take(2)
    assert queue.window(9) == [1]
    queue.take(1)
    assert queue.window(9) == [4]


def test_one_that_was_overtaken_too_often_and_left_is_due_no_more() -> None:
    queue = queue_of(1, 2, 3, overtakes=1)
    queue.take(3)
    assert queue.window(9) == [1]
    queue.leave(1)
    queue.leave(2)
    queue.join(Waiter(4))
    assert queue.window(9) == [4]


def test_a_ticket_overtaken_by_too_much_service_is_offered_alone() -> None:
    queue = Queue(Order(), overtake_limit=50, overtake_service=4.0)
    for ticket, served in enumerate([10.0, 100.0, 40.0, 1.0]):
        queue.join(Waiter(ticket, service=served))
    queue.take(2)
    assert queue.window(9) == [0, 1, 3], "four times its own is allowed"
    queue.take(3)
    assert queue.window(9) == [0]
    queue.take(0)
    assert queue.window(9) == [1]


def test_the_bound_holds_for_an_order_that_would_not_serve_the_ticket() -> None:
    queue = Queue(EarliestDeadline(), overtake_limit=3)
    queue.join(Waiter(0, deadline=1000.0))
    served = []
    for ticket in range(1, 9):
        queue.join(Waiter(ticket, deadline=float(ticket)))
        served.append(queue.head)
        queue.take(queue.head)
    assert served == [1, 2, 3, 0, 4, 5, 6, 7]


def test_among_tenants_only_overtakes_by_ones_own_count() -> None:
    counters = TokenCounters({})
    queue = Queue(Fair(counters), overtake_limit=1)
    for ticket, tenant in enumerate("abbab"):
        queue.join(Waiter(ticket, tenant))
    queue.take(1)
    queue.take(2)
    assert queue.window(9) == [0, 3], "a's first is not due for what b had"
    queue.take(3)
    counters.charge("b", 1.0)
    assert queue.window(9) == [0], "a's second overtook it"


def test_who_leaves_a_full_queue_is_the_last_of_the_lane_that_gives_way() -> None:
    queue = Queue(Priority(), overtake_limit=50)
    assert queue.gives_way(Waiter(9)) is None
    for ticket, priority in enumerate([1.0, 0.1, 0.1]):
        queue.join(Waiter(ticket, priority=priority))
    assert queue.gives_way(Waiter(3, priority=1.0)) == 2
    assert queue.gives_way(Waiter(3, priority=0.1)) is None


ORDERS = {
    "fcfs": Order,
    "priority": Priority,
    "edf": EarliestDeadline,
    "utility": GreatestUtility,
    "fair": lambda: Fair(TokenCounters({}), 30.0),
}
WAITERS = st.tuples(st.sampled_from("ab"), st.sampled_from([0.1, 1.0, 5.0]), st.floats(0.0, 9.0), st.floats(1.0, 50.0))


@pytest.mark.parametrize("name", ORDERS)
@given(data=st.data())
def test_whatever_happens_nobody_is_lost_and_overtaking_is_bounded(name: str, data: st.DataObject) -> None:
    limit = data.draw(st.integers(0, 4))
    queue, waiting, passed = Queue(ORDERS[name](), limit), {}, dict[int, int]()  # type: ignore[abstract]
    for ticket, what in enumerate(data.draw(st.lists(st.one_of(WAITERS, st.sampled_from(["take", "leave"]))))):
        if isinstance(what, tuple):
            tenant, priority, deadline, tokens = what
            waiting[ticket], passed[ticket] = tenant, 0
            assert queue.join(Waiter(ticket, tenant, priority, deadline, tokens, tokens)) >= 1
        elif waiting and what == "leave":
            gone = data.draw(st.sampled_from(sorted(waiting)))
            assert queue.leave(gone)
            del waiting[gone]
        elif waiting:
            taken = data.draw(st.sampled_from(queue.window(3)))
            for older in [ticket for ticket in waiting if ticket < taken]:
                passed[older] += name != "fair" or waiting[older] == waiting[taken]
            queue.take(taken)
            del waiting[taken]
        assert queue.tickets() == sorted(waiting)
        assert len(queue) == len(waiting)
        assert all(passed[ticket] <= limit for ticket in waiting)
        assert all(1 <= queue.position(ticket) <= len(waiting) for ticket in waiting)
