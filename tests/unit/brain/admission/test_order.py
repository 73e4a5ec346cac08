"""Orders of waiting."""

from collections import Counter
from itertools import count

import pytest

from pointsman.brain.admission.fairness import TokenCounters
from pointsman.brain.admission.order import EarliestDeadline, Fair, GreatestUtility, Order, Priority, Waiter, order_of
from pointsman.brain.admission.queue import Queue


def in_order(order: Order, *waiters: Waiter) -> list[int]:
    """The tickets in the order they are served."""
    queue = Queue(order, overtake_limit=10**6)
    for waiter in waiters:
        queue.join(waiter)
    served = []
    while queue:
        served.append(queue.head)
        queue.take(queue.head)
    return served


def test_the_earliest_deadline_goes_first_and_the_earlier_of_equals() -> None:
    waiters = [Waiter(ticket, deadline=deadline) for ticket, deadline in enumerate([5.0, 3.0, 5.0, 4.0])]
    assert in_order(EarliestDeadline(), *waiters) == [1, 3, 0, 2]


def test_the_most_value_for_its_tokens_goes_first() -> None:
    waiters = [Waiter(0, tokens=100.0), Waiter(1, tokens=10.0), Waiter(2, tokens=100.0, priority=20.0)]
    assert in_order(GreatestUtility(), *waiters) == [2, 1, 0]


def test_the_highest_class_goes_first_by_arrival() -> None:
    waiters = [Waiter(ticket, priority=p) for ticket, p in enumerate([0.5, 1.0, 3.9, 2.0, 1.9, 1e9])]
    assert in_order(Priority(), *waiters) == [5, 2, 3, 1, 4, 0]


@pytest.mark.parametrize("classes", [2, 4, 17])
def test_every_class_that_waits_gets_a_twentieth_at_least(classes: int) -> None:
    queue, tickets, had = Queue(Priority(), overtake_limit=10**9), count(), Counter[int]()
    of = {}
    for _ in range(2000):
        for each in range(classes):
            if Counter(of.values())[each] < 2:
                of[ticket := next(tickets)] = each
                queue.join(Waiter(ticket, priority=2.0 ** (each - 8)))
        had[of[queue.head]] += 1
        ticket = queue.head
        queue.take(ticket)
        del of[ticket]
    assert min(had.values()) >= 0.05 * 2000 - 1
    assert had[classes - 1] == max(had.values())


def test_tenants_are_served_by_their_counters_and_their_own_tickets_by_arrival() -> None:
    counters = TokenCounters({})
    queue = Queue(Fair(counters), overtake_limit=50)
    for ticket, tenant in enumerate("aaab"):
        queue.join(Waiter(ticket, tenant))
    served = []
    while queue:
        ticket = queue.head
        served.append(ticket)
        counters.charge("aaab"[ticket], 10.0)
        queue.take(ticket)
    assert served == [0, 3, 1, 2]


def test_tenants_near_the_least_counter_are_offered_too_where_locality_counts() -> None:
    counters = TokenCounters({})
    queue = Queue(Fair(counters, locality=10.0), overtake_limit=50)
    for ticket, tenant in enumerate("abc"):
        queue.join(Waiter(ticket, tenant))
    counters.charge("a", 11.0)
    counters.charge("b", 10.0)
    assert queue.window(9) == [2, 1]


def test_a_position_counts_turns_among_tenants() -> None:
    queue = Queue(Fair(TokenCounters({})), overtake_limit=50)
    positions = [queue.join(Waiter(ticket, tenant)) for ticket, tenant in enumerate("aaaab")]
    assert positions == [1, 2, 3, 4, 1]
    assert queue.position(3) == 5


def test_a_position_counts_the_classes_above() -> None:
    queue = Queue(Priority(), overtake_limit=50)
    assert [queue.join(Waiter(ticket, priority=p)) for ticket, p in enumerate([1.0, 4.0, 1.0])] == [1, 1, 3]


def test_the_tenant_with_most_waiting_gives_way() -> None:
    queue = Queue(Fair(TokenCounters({})), overtake_limit=50)
    for ticket, tenant in enumerate("aaab"):
        queue.join(Waiter(ticket, tenant))
    assert queue.gives_way(Waiter(9, "b")) == 2
    assert queue.gives_way(Waiter(9, "a")) is None


@pytest.mark.parametrize(
    ("name", "kind"),
    [("fcfs", Order), ("priority", Priority), ("edf", EarliestDeadline), ("utility", GreatestUtility)],
)
def test_orders_by_name(name: str, kind: type[Order]) -> None:
    assert type(order_of(name, None)) is kind
    assert isinstance(order_of("fair", TokenCounters({})), Fair)
