from typing import Any


def test_least_latency_among_the_cold(choose: Any) -> None:
    choice = choose("hot_cold", outstanding=[9.0, 4.0, 5.0, 1.0], response_at_queue=[0.1, 0.3, 0.2, 0.4])
    assert choice.index == 2  # the fastest is hot


def test_hot_ones_rank_behind_by_queue(choose: Any) -> None:
    choice = choose("hot_cold", {"quantile": 0.0}, outstanding=[9.0, 1.0, 5.0], response_at_queue=[0.1, 3.0, 0.2])
    assert choice.scores.argsort().tolist() == [1, 2, 0]


def test_quantile_one_has_no_hot(choose: Any) -> None:
    choice = choose("hot_cold", {"quantile": 1.0}, outstanding=[99.0, 0.0], response_at_queue=[0.1, 0.2])
    assert choice.index == 0
