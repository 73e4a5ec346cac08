"""Order of admission."""

from pointsman.engine.sequence import Sequence, Status
from pointsman.engine.waiting import WaitingQueue


def queue_of(by_priority: bool, priorities: list[int]) -> tuple[WaitingQueue, list[Sequence]]:
    queue = WaitingQueue(by_priority)
    sequences = []
    for order, priority in enumerate(priorities, start=1):
        sequence = Sequence(str(order), 1, 1, priority=priority)
        sequence.order = order
        sequences.append(sequence)
        queue.push(sequence)
    return queue, sequences


def drain(queue: WaitingQueue) -> str:
    keys = ""
    while (head := queue.head()) is not None:
        keys += head.key
        queue.pop()
    return keys


def test_first_come_first_served_ignores_priority() -> None:
    assert drain(queue_of(False, [3, 1, 2])[0]) == "123"


def test_lower_priority_values_come_sooner_and_ties_by_arrival() -> None:
    assert drain(queue_of(True, [3, 1, 2, 1])[0]) == "2431"


def test_who_was_preempted_comes_back_in_front() -> None:
    queue, sequences = queue_of(False, [0, 0, 0])
    queue.pop()
    queue.push(sequences[0])
    assert drain(queue) == "123"


def test_the_forgotten_do_not_count() -> None:
    queue, sequences = queue_of(False, [0, 0])
    sequences[0].status = Status.DONE
    queue.forget()
    assert len(queue) == 1
    assert drain(queue) == "2"
