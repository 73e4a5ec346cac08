"""An engine's queue counts against those of its peers."""

from math import log

import pytest

from pointsman.brain.load.queueing import Queueing


def observe(queueing: Queueing, row: int, running: int, waiting: int) -> None:
    """The same at two reports."""
    for _ in range(2):
        queueing.observe(row, running, waiting)


def test_the_engine_that_queues_most_stands_out() -> None:
    queueing = Queueing()
    for row, waiting in enumerate((0, 0, 8, 56)):
        observe(queueing, row, 8, waiting)
    excess = queueing.excess()
    assert excess[0] == pytest.approx(-log(2.0))
    assert excess[2] == pytest.approx(log(2.0))
    assert excess[3] == pytest.approx(log(8.0))


def test_a_fleet_that_queues_as_a_whole_has_no_outlier() -> None:
    queueing = Queueing()
    for row in range(3):
        observe(queueing, row, 4, 40)
    assert list(queueing.excess().values()) == [0.0, 0.0, 0.0]


def test_one_alone_has_no_peers_and_one_that_left_is_none() -> None:
    queueing = Queueing()
    observe(queueing, 0, 1, 50)
    assert not queueing.excess()
    observe(queueing, 1, 1, 0)
    queueing.forget(1)
    assert not queueing.excess()


def test_a_burst_that_waits_at_one_report_is_no_queue() -> None:
    queueing = Queueing()
    for waiting in (0, 300, 0, 300, 0):
        queueing.observe(0, 1, waiting)
        queueing.observe(1, 1, 0)
        assert queueing.excess()[0] == 0.0
    queueing.observe(0, 1, 300)
    queueing.observe(0, 1, 200)
    assert queueing.excess()[0] == pytest.approx(log(201.0))
