"""Intervals by bootstrap."""

import numpy as np
import pytest

from pointsman.sim.statistics import Interval, bootstrap


def test_one_run_says_nothing_of_its_own_uncertainty() -> None:
    assert bootstrap([1.0]) is None
    assert bootstrap([]) is None


def test_equal_values_leave_no_doubt() -> None:
    assert bootstrap([0.1] * 5) == Interval(0.1, 0.1)


def test_it_is_the_same_each_time() -> None:
    assert bootstrap([1.0, 2.0, 4.0, 8.0]) == bootstrap([1.0, 2.0, 4.0, 8.0])


def test_of_many_values_it_is_the_one_of_the_normal_distribution() -> None:
    values = np.random.default_rng(1).normal(10.0, 2.0, 400)
    found = bootstrap(values.tolist())
    half = 1.96 * values.std() / 20
    assert found is not None
    assert found.low == pytest.approx(values.mean() - half, abs=0.02)
    assert found.high == pytest.approx(values.mean() + half, abs=0.02)


def test_an_interval_holds_its_ends() -> None:
    assert [Interval(1.0, 2.0).holds(value) for value in (0.9, 1.0, 2.0, 2.1)] == [False, True, True, False]


@pytest.mark.parametrize("value", [16 / 185.304, 0.1, 0.086, 1 / 3])
def test_an_interval_of_equal_values_has_no_width(value: float) -> None:
    for count in (2, 3, 5, 7):
        assert bootstrap([value] * count) == Interval(value, value)
