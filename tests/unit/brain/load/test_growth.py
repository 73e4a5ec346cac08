import numpy as np
import pytest

from pointsman.brain.load.growth import QueueGrowth


def test_follows_a_steady_rise() -> None:
    out = np.zeros(2)
    growth = QueueGrowth(out, smooth_s=2.0)
    for second in range(21):
        growth.sample(np.array([3.0 * second, 5.0]), float(second))
    assert out == pytest.approx([3.0, 0.0], abs=1e-3)


def test_smooths_over_time_not_over_samples() -> None:
    coarse, fine = np.zeros(1), np.zeros(1)
    one, ten = QueueGrowth(coarse), QueueGrowth(fine)
    for i in range(11):
        ten.sample(np.array([0.2 * i]), 0.1 * i)
    for i in range(2):
        one.sample(np.array([2.0 * i]), 1.0 * i)
    assert fine == pytest.approx(coarse)


def test_no_time_no_change_and_a_new_node_has_no_past() -> None:
    out = np.zeros(1)
    growth = QueueGrowth(out)
    growth.sample(np.array([1.0]), 0.0)
    growth.sample(np.array([9.0]), 0.0)
    assert out[0] == 0.0
    growth.sample(np.array([9.0]), 1.0)
    assert out[0] > 0.0
    growth.start(0)
    growth.sample(np.array([50.0]), 2.0)
    assert out[0] == 0.0
    with pytest.raises(ValueError, match="smooth_s"):
        QueueGrowth(out, smooth_s=0.0)
