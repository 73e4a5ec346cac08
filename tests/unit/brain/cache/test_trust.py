"""Believing an engine's own word about what it had cached."""

import pytest

from pointsman.brain.cache.trust import LEAST, Trust


def test_missing_cache_shrinks_and_good_answers_restore() -> None:
    trust = Trust()
    for _ in range(5):
        trust.observe(0, 1000, 900, 100)
    low = trust.of(0)
    assert low == pytest.approx(0.9**5)
    for _ in range(200):
        trust.observe(0, 1000, 900, 890)
    assert trust.of(0) == 1.0


def test_a_short_shared_prefix_says_nothing() -> None:
    trust = Trust()
    trust.observe(0, 1000, 200, 0)
    assert trust.of(0) == 1.0


def test_it_never_falls_below_its_floor_and_forgets() -> None:
    trust = Trust()
    for _ in range(1000):
        trust.observe(3, 1000, 1000, 0)
    assert trust.of(3) == LEAST
    trust.forget(3)
    assert trust.of(3) == 1.0
