"""Arrival processes have the rate and burstiness asked for."""

import numpy as np
import pytest

from pointsman.workload.arrivals import (
    gamma_arrivals,
    modulated_arrivals,
    poisson_arrivals,
    ramp_arrivals,
    weibull_arrivals,
)


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


@pytest.mark.parametrize(("shape", "cv"), [(1.0, 1.0), (0.5, 2.236), (2.0, 0.523)])
def test_weibull_gaps_have_the_rate_and_the_burstiness_of_their_shape(shape, cv):
    at = weibull_arrivals(np.random.default_rng(1), 20.0, 2000.0, shape=shape)
    gaps = np.diff(at)
    assert len(at) == pytest.approx(40_000, rel=0.05)
    assert gaps.std() / gaps.mean() == pytest.approx(cv, rel=0.05)


@pytest.mark.parametrize(("first", "last"), [(0.0, 20.0), (20.0, 0.0), (5.0, 15.0), (10.0, 10.0)])
def test_a_ramp_has_its_rate_at_every_quarter(first, last):
    at = ramp_arrivals(np.random.default_rng(1), first, last, 2000.0)
    counted, _ = np.histogram(at, bins=4, range=(0.0, 2000.0))
    expected = [500 * (first + (last - first) * middle) for middle in (0.125, 0.375, 0.625, 0.875)]
    assert counted == pytest.approx(expected, rel=0.06)
    assert np.all(np.diff(at) >= 0)
    assert at[-1] < 2000


def test_a_modulated_process_is_burstier_than_poisson_at_the_mean_rate():
    at = modulated_arrivals(np.random.default_rng(1), (2.0, 30.0), 20.0, 40_000.0)
    assert len(at) / 40_000 == pytest.approx(16.0, rel=0.1)
    gaps = np.diff(at)
    assert gaps.std() / gaps.mean() > 1.4
    assert np.all(gaps >= 0)
    assert at[-1] < 40_000


def test_a_state_without_arrivals_is_a_silence():
    at = modulated_arrivals(np.random.default_rng(3), (0.0, 50.0), 10.0, 500.0)
    assert np.diff(at).max() > 2.0


@pytest.mark.parametrize(
    "wrong",
    [
        lambda rng: weibull_arrivals(rng, 1.0, 1.0, shape=0.0),
        lambda rng: ramp_arrivals(rng, 0.0, 0.0, 1.0),
        lambda rng: ramp_arrivals(rng, -1.0, 2.0, 1.0),
        lambda rng: modulated_arrivals(rng, (1.0,), 1.0, 1.0),
        lambda rng: modulated_arrivals(rng, (0.0, 0.0), 1.0, 1.0),
        lambda rng: modulated_arrivals(rng, (1.0, 2.0), 0.0, 1.0),
    ],
)
def test_processes_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match=r"must be positive|no arrivals|no modulated"):
        wrong(np.random.default_rng(1))
