"""The waiting queue."""

import pytest

from pointsman.brain.admission.queue import Queue


def queue_of(*tickets: int, overtakes: int = 2) -> Queue:
    queue = Queue(limit=4, overtake_limit=overtakes)
    for ticket in tickets:
        queue.join(ticket)
    return queue


def test_first_come_first_served_with_positions() -> None:
    queue = queue_of(7, 8, 9)
    assert queue.window(2) == [7, 8]
    assert [queue.position(ticket) for ticket in (7, 8, 9)] == [1, 2, 3]
    queue.take(7)
    assert queue.position(9) == 2


def test_leaving_is_possible_from_anywhere_and_once() -> None:
    queue = queue_of(1, 2, 3)
    assert queue.leave(2)
    assert not queue.leave(2)
    assert queue.window(9) == [1, 3]
    with pytest.raises(KeyError):
        queue.position(2)


def test_it_is_bounded() -> None:
    assert not queue_of(1, 2, 3).full
    assert queue_of(1, 2, 3, 4).full


def test_a_ticket_overtaken_too_often_is_offered_alone() -> None:
    queue = queue_of(1, 2, 3, 4)
    queue.take(3)
    assert queue.window(9) == [1, 2, 4]
    queue.take(2)
    assert queue.window(9) == [1]
    queue.take(1)
    assert queue.window(9) == [4]
