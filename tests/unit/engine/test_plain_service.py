"""The time a plain server takes."""

import pytest

from pointsman.engine.plain_service import PlainService

SERVICE = PlainService(base_seconds=0.1, slope_seconds=0.9, capacity=10)


def test_the_time_grows_with_the_load() -> None:
    assert SERVICE.seconds(SERVICE.load(0)) == pytest.approx(0.1)
    assert SERVICE.seconds(SERVICE.load(5, drift=0.5)) == pytest.approx(1.0)
    assert SERVICE.seconds(SERVICE.load(20)) == pytest.approx(1.9)


def test_full_load_is_answered_by_little_s_law() -> None:
    assert SERVICE.requests_per_second() == pytest.approx(10.0)
    assert SERVICE.requests_per_second(drift=0.4) == pytest.approx(6.0)
    assert SERVICE.requests_per_second(drift=2.0) == 0.0
