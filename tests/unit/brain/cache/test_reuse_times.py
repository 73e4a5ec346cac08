"""What is learned of reuse, against the formula."""

from math import exp

import pytest

from pointsman.brain.cache.reuse_times import PRIOR_SECONDS, ReuseTimes

KIND = ("", 1)


def test_what_nothing_is_known_of_is_used_again_half_the_time() -> None:
    times = ReuseTimes()
    held = exp(-1.0)
    expected = 0.5 * held * (1 - held) / (0.5 + 0.5 * held)
    assert times.probability(KIND, PRIOR_SECONDS) == pytest.approx(expected)


def test_the_share_and_the_mean_time_are_learned() -> None:
    times = ReuseTimes()
    for _ in range(400):
        times.used_again(KIND, 5.0)
        times.never_again(KIND)
        times.never_again(KIND)
        times.never_again(KIND)
    times.lifespan = 1e9  # whatever is ever used again is used while it is held
    assert times.probability(KIND, 0.0) == pytest.approx(0.25, abs=0.01)
    waiting = 0.25 * exp(-2.0)
    assert times.probability(KIND, 10.0) == pytest.approx(waiting / (0.75 + waiting), rel=0.1)


def test_a_long_life_leaves_more_time_for_a_use() -> None:
    short, long = ReuseTimes(), ReuseTimes()
    for _ in range(300):
        short.evicted(1.0)
        long.evicted(1000.0)
    assert short.probability(KIND, 1.0) < long.probability(KIND, 1.0)


def test_kinds_are_learned_apart() -> None:
    times = ReuseTimes()
    times.used_again(("a", 1), 1.0)
    assert times.probability(("a", 1), 0.0) > times.probability(("b", 1), 0.0) == times.probability(("a", 2), 0.0)


def test_a_workload_that_changes_is_followed() -> None:
    times = ReuseTimes()
    for _ in range(20_000):
        times.never_again(KIND)
    before = times.probability(KIND, 0.0)
    for _ in range(20_000):
        times.used_again(KIND, 1.0)
    assert before < 0.01
    assert times.probability(KIND, 0.0) > 0.8
