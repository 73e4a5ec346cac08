from typing import Any


def test_in_turn(choose: Any) -> None:
    turns = [choose("round_robin", outstanding=[0.0] * 3, sequence=i).index for i in range(5)]
    assert turns == [0, 1, 2, 0, 1]


def test_next_scores_zero(choose: Any) -> None:
    assert choose("round_robin", outstanding=[0.0] * 3, sequence=4).scores.tolist() == [2.0, 0.0, 1.0]
