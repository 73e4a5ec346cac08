"""Arrival processes have the rate and burstiness asked for."""

import numpy as np
import pytest

from pointsman.workload.arrivals import gamma_arrivals, poisson_arrivals


@pytest.mark.parametrize("cv", [0.5, 1.0, 3.0])
def test_rate_and_coefficient_of_variation(cv):
    at = gamma_arrivals(np.random.default_rng(1), 20.0, 2000.0, cv=cv)
    gaps = np.diff(at)
    assert len(at) == pytest.approx(40_000, rel=0.05)
    assert gaps.std() / gaps.mean() == pytest.approx(cv, rel=0.05)


def test_arrivals_ascend_and_stay_inside():
    at = poisson_arrivals(np.random.default_rng(1), 3.0, 50.0)
    assert np.all(np.diff(at) > 0)
    assert at[0] >= 0
    assert at[-1] < 50


def test_a_longer_run_begins_with_the_shorter():
    short, long = (poisson_arrivals(np.random.default_rng(4), 3.0, seconds) for seconds in (20.0, 200.0))
    assert np.array_equal(short, long[: len(short)])


@pytest.mark.parametrize(("rate", "seconds", "cv"), [(0, 1, 1), (1, 0, 1), (1, 1, 0)])
def test_nothing_but_positive_figures(rate, seconds, cv):
    with pytest.raises(ValueError, match="must be positive"):
        gamma_arrivals(np.random.default_rng(1), rate, seconds, cv=cv)
