"""An engine's queue counts against those of its peers."""

from math import log

import pytest

from pointsman.brain.load.queueing import Queueing


def test_the_engine_that_queues_most_stands_out() -> None:
    queueing = Queueing()
    for row, waiting in enumerate((0, 0, 8, 56)):
        queueing.observe(row, 8, waiting)
    excess = queueing.excess()
    assert excess[0] == pytest.approx(-log(2.0))
    assert excess[2] == pytest.approx(log(2.0))
    assert excess[3] == pytest.approx(log(8.0))


def test_a_fleet_that_queues_as_a_whole_has_no_outlier() -> None:
    queueing = Queueing()
    for row in range(3):
        queueing.observe(row, 4, 40)
    assert list(queueing.excess().values()) == [0.0, 0.0, 0.0]


def test_one_alone_has_no_peers_and_one_that_left_is_none() -> None:
    queueing = Queueing()
    queueing.observe(0, 1, 50)
    assert not queueing.excess()
    queueing.observe(1, 1, 0)
    queueing.forget(1)
    assert not queueing.excess()
