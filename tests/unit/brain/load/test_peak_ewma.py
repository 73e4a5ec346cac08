from math import exp

import numpy as np
import pytest

from pointsman.brain.load.peak_ewma import FIRST_GUESS_S, PeakEwma


def fleet(*seconds: float) -> tuple[PeakEwma, np.ndarray]:
    out = np.zeros(8)
    ewma = PeakEwma(out, decay_s=10.0)
    for row, first in enumerate(seconds):
        ewma.start(row, 0.0)
        ewma.observe(row, first, 0.0)
    return ewma, out


def test_jumps_up_to_a_peak_and_comes_down_slowly() -> None:
    ewma, out = fleet(1.0)
    ewma.observe(0, 5.0, 1.0)
    assert out[0] == 5.0
    ewma.observe(0, 1.0, 3.0)
    assert out[0] == pytest.approx(1.0 + 4.0 * exp(-2.0 / 10.0))


def test_first_answer_is_taken_as_it_is() -> None:
    ewma, out = fleet()
    ewma.start(0, 0.0)
    assert out[0] == FIRST_GUESS_S
    ewma.observe(0, 0.01, 0.0)
    assert out[0] == 0.01


def test_unsampled_node_returns_to_the_median() -> None:
    ewma, out = fleet(1.0, 1.0, 9.0)
    ewma.refresh(0.0, 3)
    for now in np.arange(0.5, 60.0, 0.5):
        ewma.observe(0, 1.0, float(now))
        ewma.observe(1, 1.0, float(now))
        ewma.refresh(float(now), 3)
        if now < 10.0:
            assert out[2] == 9.0
    assert 1.0 < out[2] < 1.1


def test_sampled_nodes_do_not_drift_to_the_median() -> None:
    ewma, out = fleet(1.0, 2.0, 4.0)
    for now in np.arange(1.0, 40.0):
        for row, seconds in enumerate((1.0, 2.0, 4.0)):
            ewma.observe(row, seconds, float(now))
        ewma.refresh(float(now), 3)
    assert out[:3].tolist() == [1.0, 2.0, 4.0]


def test_new_node_starts_at_the_median_of_those_that_answered() -> None:
    ewma, out = fleet(1.0, 2.0, 4.0)
    ewma.refresh(1.0, 3)
    ewma.start(3, 1.0)
    assert out[3] == 2.0
    ewma.observe(0, 3.0, 2.0)
    ewma.refresh(2.0, 4)
    assert out[3] == 3.0


def test_median_is_not_recomputed_within_the_interval() -> None:
    ewma, out = fleet(1.0)
    ewma.refresh(0.0, 1)
    ewma.observe(0, 7.0, 0.1)
    ewma.refresh(0.5, 1)
    ewma.start(1, 0.5)
    assert out[1] == 1.0
    ewma.refresh(2.0, 2)
    assert out[1] == 7.0


def test_rejects_no_decay() -> None:
    with pytest.raises(ValueError, match="decay_s"):
        PeakEwma(np.zeros(1), decay_s=0.0)
