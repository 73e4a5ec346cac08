import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.brain.model.draw import draw
from pointsman.brain.model.view import Cells, View
from pointsman.brain.policies.pickers import (
    every,
    greatest,
    least,
    least_of,
    lower_of_two,
    lowest,
    lowest_then,
    tiered,
    two_of,
)


def test_lowest_draws_among_equals() -> None:
    scores = np.array([2.0, 1.0, 3.0, 1.0])
    for values in (scores, scores.tolist()):
        assert {lowest(values, draw(0, i)) for i in range(40)} == {1, 3}


def test_lowest_then_breaks_ties_by_the_second() -> None:
    scores, second = np.array([1.0, 1.0, 0.0, 0.0, 0.0]), np.array([0.0, 0.0, 5.0, 4.0, 4.0])
    assert {lowest_then(scores, second, draw(0, i)) for i in range(40)} == {3, 4}
    assert {lowest_then(scores.tolist(), second.tolist(), draw(0, i)) for i in range(40)} == {3, 4}


@given(st.integers(2, 30), st.integers(0, 2**64 - 1))
def test_two_of_are_distinct_and_valid(candidates: int, bits: int) -> None:
    first, second = two_of(candidates, bits)
    assert first != second
    assert 0 <= min(first, second) <= max(first, second) < candidates


def test_two_of_reaches_every_pair() -> None:
    assert len({two_of(4, draw(5, i)) for i in range(400)}) == 12
    assert two_of(1, 123) == (0, 0)


def test_lower_of_two_first_drawn_wins_ties() -> None:
    bits = draw(9, 9)
    assert lower_of_two(np.zeros(6), bits) == two_of(6, bits)[0]


def test_tiered_ranks_the_rest_behind() -> None:
    scores = np.array([5.0, -1.0, 2.0, 0.0])
    ranked = tiered(scores, np.array([True, False, True, False]), np.array([0.0, 0.9, 0.0, 0.1]))
    assert ranked.argsort().tolist() == [2, 0, 3, 1]
    assert tiered(scores, np.ones(4, dtype=bool), scores) is scores


def test_least_greatest_every() -> None:
    values = np.array([2.0, -3.0, 7.0])
    assert (least(values), greatest(values)) == (-3.0, 7.0)
    assert every(np.array([True, True]))
    assert not every(np.array([True, False]))


@pytest.mark.parametrize("candidates", [3, 60])
def test_a_score_that_is_no_number_is_no_least_one(candidates: int) -> None:
    scores = np.arange(float(candidates))
    scores[0] = np.nan
    with pytest.raises(ValueError, match="the score of candidate 0 is not a number"):
        lowest(scores, 0)
    few = View(Cells(candidates).columns(), np.arange(candidates), overlap=[], prompt_tokens=1, output_tokens=1)
    with pytest.raises(ValueError, match="the score of candidate 0 is not a number"):
        least_of(scores.tolist(), few)


@given(st.lists(st.sampled_from([1.0, 2.0, 3.0]), min_size=1, max_size=6), st.integers(0, 2**64 - 1))
def test_a_list_is_searched_as_an_array_is(scores: list[float], draw: int) -> None:
    n = len(scores)
    view = View(Cells(n).columns(), np.arange(n), overlap=[0.0] * n, prompt_tokens=1, output_tokens=1, draw=draw)
    assert least_of(scores, view) == lowest(np.array(scores), draw)
