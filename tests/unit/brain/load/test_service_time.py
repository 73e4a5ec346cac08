import numpy as np
import pytest

from pointsman.brain.load.service_time import FIRST_GUESS_S, ServiceTime


def test_learns_each_node_and_starts_new_ones_at_the_fleets_mean() -> None:
    out = np.zeros(3)
    service = ServiceTime(out)
    service.start(0)
    service.start(1)
    assert out[0] == FIRST_GUESS_S
    for _ in range(300):
        service.observe(0, 2.0)
        service.observe(1, 4.0)
    service.start(2)
    assert out == pytest.approx([2.0, 4.0, 3.0], rel=0.02)


def test_first_request_moves_halfway() -> None:
    out = np.zeros(1)
    service = ServiceTime(out)
    service.start(0)
    service.observe(0, 3.0)
    assert out[0] == pytest.approx((FIRST_GUESS_S + 3.0) / 2)


def test_what_is_not_measured_yet_follows_the_fleet() -> None:
    """Else the first node measured would look faster than the rest, and get everything."""
    out = np.zeros(3)
    service = ServiceTime(out)
    for row in range(3):
        service.start(row)
    service.observe(0, 0.1)
    assert out[0] > out[1] == out[2] == pytest.approx(0.1)
    service.observe(1, 0.3)
    assert out[2] == pytest.approx(0.2)


def test_follows_a_change() -> None:
    out = np.zeros(1)
    service = ServiceTime(out, weight=0.1)
    service.start(0)
    for seconds in [1.0] * 50 + [5.0] * 50:
        service.observe(0, seconds)
    assert out[0] == pytest.approx(5.0, rel=0.01)
    with pytest.raises(ValueError, match="weight"):
        ServiceTime(out, weight=0.0)
