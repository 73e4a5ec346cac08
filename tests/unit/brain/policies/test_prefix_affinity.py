from typing import Any


def test_longest_overlap_whatever_the_queue(choose: Any) -> None:
    choice = choose("prefix_affinity", overlap=[100.0, 900.0, 0.0], outstanding=[0.0, 99.0, 0.0])
    assert (choice.index, choice.reason) == (1, "affinity")
    assert choice.scores.tolist() == [900.0, 100.0, 1000.0]


def test_says_when_it_was_a_draw(choose: Any) -> None:
    assert choose("prefix_affinity", overlap=[0.0, 0.0]).reason == "random"
