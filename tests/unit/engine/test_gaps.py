"""The longest step since an earlier one."""

from hypothesis import given
from hypothesis import strategies as st

from pointsman.engine.gaps import LongestSteps


@given(st.lists(st.floats(0.001, 10.0), max_size=40), st.integers(0, 40))
def test_it_is_the_longest_of_all_that_came_later(lengths: list[float], since: int) -> None:
    longest = LongestSteps()
    for step, seconds in enumerate(lengths, 1):
        longest.add(step, seconds)
    assert longest.after(since) == max(lengths[since:], default=0.0)
