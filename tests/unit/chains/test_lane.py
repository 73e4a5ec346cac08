"""One chain."""

from math import inf

import pytest

from pointsman.chains.lane import Lane
from pointsman.chains.model import Chain


def ends(lane: Lane) -> list[tuple[int, float]]:
    """All that ends, in order, with its time."""
    found = []
    while (when := lane.next_end()) < inf:
        found.append((lane.end(when), pytest.approx(when)))
    return found


def test_jobs_side_by_side_take_their_own_time() -> None:
    lane = Lane(Chain((), (), 2, 2.0), slowdown=0.0)
    lane.add(0, 1.0, now=0.0)
    lane.add(1, 0.25, now=1.0)
    assert len(lane) == 2
    assert ends(lane) == [(1, 1.5), (0, 2.0)]
    assert len(lane) == 0


def test_what_finds_no_slot_waits_in_order_of_arrival() -> None:
    lane = Lane(Chain((), (), 1, 1.0), slowdown=0.0)
    for job in range(3):
        lane.add(job, 1.0, now=0.5 * job)
    assert len(lane) == 3
    assert ends(lane) == [(0, 1.0), (1, 2.0), (2, 3.0)]


def test_jobs_slow_each_other_while_they_are_together() -> None:
    lane = Lane(Chain((), (), 2, 1.0), slowdown=1.0)
    lane.add(0, 1.0, now=0.0)
    lane.add(1, 1.0, now=0.5)  # half of job 0 is done; the other half takes a second
    assert ends(lane) == [(0, 1.5), (1, 2.0)]


def test_time_without_jobs_is_no_work() -> None:
    lane = Lane(Chain((), (), 2, 1.0), slowdown=0.0)
    lane.add(0, 1.0, now=0.0)
    assert ends(lane) == [(0, 1.0)]
    lane.add(1, 1.0, now=7.0)
    assert ends(lane) == [(1, 8.0)]
