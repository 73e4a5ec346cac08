"""Where a share falls below its target."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.simulate.crossing import STRIDE, Crossing, bracket, crossing, next_loads

FALLING = {0.5: 1.0, 0.7: 0.95, 0.9: 0.85, 1.1: 0.2}


def test_between_two_loads_it_falls_in_a_straight_line() -> None:
    assert crossing(FALLING, 0.9) == Crossing(pytest.approx(0.8))
    assert crossing(FALLING, 0.95) == Crossing(pytest.approx(0.7))


def test_outside_of_what_was_tried_the_nearest_load_is_a_bound() -> None:
    assert crossing({0.5: 0.8, 0.7: 0.7}, 0.9) == Crossing(0.5, "below")
    assert crossing({0.5: 0.95, 0.7: 0.9}, 0.9) == Crossing(0.7, "above")


def test_what_rises_again_by_chance_counts_for_nothing() -> None:
    assert bracket({0.5: 1.0, 0.7: 0.8, 0.9: 0.95, 1.1: 0.1}, 0.9) == (0.5, 0.7)


def test_the_next_load_halves_every_bracket_or_goes_beyond() -> None:
    assert sorted(next_loads(FALLING, (0.9, 0.99))) == pytest.approx([0.6, 0.8])
    assert next_loads({0.5: 0.8}, (0.9,)) == {0.5 / STRIDE}
    assert next_loads({0.5: 0.95}, (0.9,)) == {0.5 * STRIDE}


def test_of_nothing_nothing_is_known() -> None:
    with pytest.raises(ValueError, match="at one load at least"):
        crossing({}, 0.9)


@given(st.floats(0.05, 6.0), st.floats(0.5, 0.99))
def test_a_few_further_loads_find_it_wherever_it_is(edge: float, target: float) -> None:
    """A policy that keeps the objective up to `edge` and not beyond, tried at the loads usual for a sweep."""
    shares = {load: 1.0 if load <= edge else 0.0 for load in (0.3, 0.5, 0.7, 0.9, 1.1, 1.3)}
    for _ in range(14):
        for load in next_loads(shares, (target,)):
            shares[load] = 1.0 if load <= edge else 0.0
    before, after = bracket(shares, target)
    assert before is not None
    assert after is not None
    assert before <= edge <= after
    assert after - before < 0.01 * edge
