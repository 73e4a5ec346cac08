import numpy as np
import pytest

from pointsman.brain.load.recovery import RecoverySlope


def test_newest_change_weighs_six_tenths() -> None:
    out = np.zeros(2)
    slope = RecoverySlope(out)
    slope.sample(np.array([0.9, 0.5]), 0.0)
    slope.sample(np.array([0.8, 0.5]), 10.0)
    slope.sample(np.array([0.5, 0.6]), 20.0)
    assert out == pytest.approx([0.6 * 0.03 + 0.4 * 0.6 * 0.01, 0.6 * -0.01])


def test_steady_fall_is_the_slope_itself_after_a_window() -> None:
    out = np.zeros(1)
    slope = RecoverySlope(out, sample_s=5.0, window=4)
    for i in range(6):
        slope.sample(np.array([1.0 - 0.1 * i]), 5.0 * i)
    assert out[0] == pytest.approx(0.02)


def test_what_is_older_than_the_window_is_forgotten() -> None:
    out = np.zeros(1)
    slope = RecoverySlope(out, window=3)
    for i, load in enumerate((1.0, 0.0, 0.0, 0.0, 0.0)):
        slope.sample(np.array([load]), 10.0 * i)
    assert out[0] == 0.0


def test_due_every_sample_s() -> None:
    slope = RecoverySlope(np.zeros(1), sample_s=10.0)
    assert slope.due(0.0)
    slope.sample(np.zeros(1), 0.0)
    assert not slope.due(9.9)
    assert slope.due(10.0)


def test_new_node_has_no_slope_from_its_predecessor() -> None:
    out = np.zeros(2)
    slope = RecoverySlope(out)
    slope.sample(np.array([1.0, 1.0]), 0.0)
    slope.sample(np.array([0.5, 0.5]), 10.0)
    slope.start(0)
    assert out[0] == 0.0
    slope.sample(np.array([0.0, 0.5]), 20.0)
    assert out[0] == 0.0
    assert out[1] > 0.0


def test_fleet_may_grow_between_samples() -> None:
    out = np.zeros(3)
    slope = RecoverySlope(out)
    slope.sample(np.array([1.0]), 0.0)
    slope.sample(np.array([0.9, 0.7]), 10.0)
    assert out == pytest.approx([0.006, 0.0, 0.0])


def test_rejects_nonsense() -> None:
    with pytest.raises(ValueError, match="window"):
        RecoverySlope(np.zeros(1), window=0)
