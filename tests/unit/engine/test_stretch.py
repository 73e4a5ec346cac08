"""Ends of steps in closed form, against steps added up one by one."""

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.engine.stretch import Stretch

STRETCHES = st.builds(Stretch, st.floats(0, 1e4), st.floats(1e-3, 1.0), st.floats(0, 1e-3), st.integers(1, 500))


@given(STRETCHES)
def test_ends_are_those_of_steps_added_up(stretch: Stretch) -> None:
    steps = [stretch.seconds + number * stretch.slope for number in range(stretch.steps)]
    ends = [stretch.began + elapsed for elapsed in accumulate(steps)]
    assert [stretch.end(number + 1) for number in range(stretch.steps)] == pytest.approx(ends, rel=1e-12)
    assert stretch.length(stretch.steps) == pytest.approx(sum(steps), rel=1e-12)
    assert stretch.last() == steps[-1] == max(steps)


@given(STRETCHES, st.data())
def test_which_step_is_in_progress(stretch: Stretch, data: st.DataObject) -> None:
    now = data.draw(st.floats(stretch.began, stretch.end(stretch.steps)))
    ended, next_end = stretch.ended(now), stretch.boundary(now)
    assert ended == 0 or stretch.end(ended) <= now
    assert stretch.end(ended + 1) > now
    assert stretch.end(next_end) >= now
    assert next_end == 1 or stretch.end(next_end - 1) < now


@given(STRETCHES, st.data())
def test_a_moment_at_the_end_of_a_step_belongs_to_it(stretch: Stretch, data: st.DataObject) -> None:
    step = data.draw(st.integers(1, stretch.steps))
    assert stretch.ended(stretch.end(step)) == step
    assert stretch.boundary(stretch.end(step)) == step
