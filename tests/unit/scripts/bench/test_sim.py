"""Where a simulation's time goes is told by part."""

import pytest
from sim import PARTS, Stopwatch, Timed, shares
from tests.support.simulated import uneven


def test_parts_add_up() -> None:
    found = shares(uneven("round_robin", seconds=3.0))
    assert tuple(found) == PARTS
    assert sum(found.values()) == pytest.approx(1.0, abs=0.01)
    assert found["brain"] > 0
    assert found["engines"] > 0


def test_a_watched_call_answers_as_ever() -> None:
    watch = Stopwatch()
    watched = Timed([3, 1, 2], watch)
    assert watched.index(2) == 2
    assert watch.seconds > 0
