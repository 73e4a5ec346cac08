from typing import Any


def test_fastest_of_those_with_a_free_slot(choose: Any) -> None:
    choice = choose("sa_jsq", outstanding=[0.0, 7.0, 8.0], slots=[8.0] * 3, speed=[1.0, 2.0, 9.0])
    assert choice.index == 1
    assert choice.scores.tolist() == [0.0, 0.0, 0.125]


def test_waiting_counts_per_slot(choose: Any) -> None:
    assert choose("sa_jsq", outstanding=[5.0, 19.0], slots=[2.0, 16.0], speed=[9.0, 1.0]).index == 1
