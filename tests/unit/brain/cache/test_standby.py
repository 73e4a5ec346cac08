"""Memory kept for one class."""

import pytest

from pointsman.brain.cache.standby import Standby


def standby_of(least: int = 2, nodes: int = 2) -> Standby:
    return Standby("m", 1024, least, nodes)


def test_what_requests_hold_counts_towards_what_is_promised() -> None:
    standby = standby_of()
    standby.promised[3] = standby.kept[3] = 10
    standby.take(3, 4)
    assert (standby.kept[3], standby.wanted(3)) == (6, 6)
    standby.take(3, 8)
    assert (standby.kept[3], standby.wanted(3)) == (0, 0)
    standby.give(3, 8)
    assert standby.wanted(3) == 6


def test_a_class_that_is_not_used_is_promised_nothing_until_it_is() -> None:
    standby = standby_of()
    assert standby.requests(60.0, 300.0, now=1000.0) == 2
    assert standby.requests(60.0, 300.0, now=1301.0) == 0
    standby.demand.arrived(60.0, 1302.0)
    assert standby.requests(60.0, 300.0, now=1302.0) == 2


@pytest.mark.parametrize(("nodes", "each"), [(1, 20), (2, 10), (3, 7)])
def test_demand_is_shared_by_the_nodes(nodes: int, each: int) -> None:
    standby = standby_of(nodes=nodes)
    for number in range(1200):
        standby.demand.arrived(60.0, number / 2.0)
        standby.demand.stayed(8.0)
    assert standby.requests(60.0, 300.0, 600.0) == each


def test_a_row_is_forgotten_whole() -> None:
    standby = standby_of()
    standby.promised[0] = 5
    standby.take(0, 2)
    standby.forget(0)
    assert (standby.promised, standby.used, standby.kept) == ({}, {}, {})
