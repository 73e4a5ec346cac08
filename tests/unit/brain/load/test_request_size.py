"""Mean size of requests."""

import pytest

from pointsman.brain.load.request_size import FEWEST, RequestSize


def test_it_is_silent_until_it_has_seen_enough() -> None:
    size = RequestSize()
    for _ in range(FEWEST - 1):
        size.observe(100.0)
    assert size.mean() is None
    size.observe(100.0)
    assert size.mean() == pytest.approx(100.0)


def test_it_follows_a_change_of_traffic() -> None:
    size = RequestSize()
    for tokens in [100.0] * 50 + [1000.0] * 300:
        size.observe(tokens)
    assert size.mean() == pytest.approx(1000.0, rel=0.01)
