"""What a sequence is made from."""

import pytest

from pointsman.engine.sequence import Sequence


def test_runs_are_written_out_for_who_knows_blocks_one_by_one() -> None:
    sequence = Sequence("a", 1, 1, runs=((4, 3), (9, 1)))
    assert sequence.hashes == []
    sequence.expand()
    assert sequence.hashes == [4, 5, 6, 9]


@pytest.mark.parametrize("sizes", [(0, 1), (1, 0)])
def test_a_sequence_needs_a_prompt_and_an_answer(sizes: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="needs a prompt and an answer"):
        Sequence("a", *sizes)
