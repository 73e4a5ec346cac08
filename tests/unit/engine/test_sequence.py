"""Chains of blocks as runs, and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.engine.sequence import Sequence, runs_of


def test_runs_are_as_long_as_ids_are_consecutive() -> None:
    assert runs_of([4, 5, 6, 9, 11, 12]) == ((4, 3), (9, 1), (11, 2))
    assert runs_of([]) == ()
    assert runs_of([0]) == ((0, 1),)


@given(st.lists(st.integers(0, 12), max_size=20))
def test_runs_written_out_are_the_ids(ids: list[int]) -> None:
    sequence = Sequence("a", 1, 1, runs=runs_of(ids))
    sequence.expand()
    assert sequence.hashes == ids


@pytest.mark.parametrize("sizes", [(0, 1), (1, 0)])
def test_a_sequence_needs_a_prompt_and_an_answer(sizes: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="needs a prompt and an answer"):
        Sequence("a", *sizes)
