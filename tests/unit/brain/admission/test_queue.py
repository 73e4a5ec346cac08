"""The waiting queue."""

from pointsman.brain.admission.queue import Queue


def queue_of(*tickets: int, overtakes: int = 2) -> Queue:
    queue = Queue(overtake_limit=overtakes)
    for position, ticket in enumerate(tickets, 1):
        assert queue.join(ticket) == position
    return queue


def test_first_come_first_served() -> None:
    queue = queue_of(7, 8, 9)
    assert queue.head == 7
    assert queue.window(2) == [7, 8]
    queue.take(7)
    assert queue.window(2) == [8, 9]


def test_leaving_is_possible_from_anywhere_and_once() -> None:
    queue = queue_of(1, 2, 3)
    assert queue.leave(2)
    assert not queue.leave(2)
    assert queue.window(9) == [1, 3]


def test_a_ticket_overtaken_too_often_is_offered_alone() -> None:
    queue = queue_of(1, 2, 3, 4)
    queue.take(3)
    assert queue.window(9) == [1, 2, 4]
    queue.take(2)
    assert queue.window(9) == [1]
    queue.take(1)
    assert queue.window(9) == [4]
