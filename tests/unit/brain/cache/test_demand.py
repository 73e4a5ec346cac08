"""How many requests of a class are present."""

from math import inf

import pytest

from pointsman.brain.cache.demand import Demand

MEMORY_S = 60.0


def steady(rate: float, stay_s: float, seconds: float = 600.0) -> Demand:
    demand = Demand()
    for number in range(int(rate * seconds)):
        demand.arrived(MEMORY_S, number / rate)
        demand.stayed(stay_s)
    return demand


def test_arrivals_times_stay_and_the_root_of_that_are_present() -> None:
    demand = steady(rate=2.0, stay_s=8.0)
    assert demand.rate(MEMORY_S, 600.0) == pytest.approx(2.0, rel=0.02)
    assert demand.present(MEMORY_S, 600.0) == 20  # 16 on average, and 4


def test_demand_fades() -> None:
    demand = steady(rate=2.0, stay_s=8.0)
    assert demand.rate(MEMORY_S, 600.0 + MEMORY_S) == pytest.approx(2.0 / 2.718, rel=0.02)
    assert demand.present(MEMORY_S, 600.0 + 10 * MEMORY_S) == 0


def test_nobody_is_expected_before_the_first_has_ended() -> None:
    demand = Demand()
    assert demand.seen_at == inf
    demand.arrived(MEMORY_S, 5.0)
    assert (demand.seen_at, demand.present(MEMORY_S, 5.0)) == (5.0, 0)


def test_a_stay_is_averaged() -> None:
    demand = steady(rate=1.0, stay_s=10.0)
    for _ in range(100):
        demand.stayed(20.0)
    assert demand.present(MEMORY_S, 600.0) == 25  # 20 and the root of that
