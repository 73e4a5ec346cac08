from typing import Any


def test_fastest_answer_that_is_not_nearly_full(choose: Any) -> None:
    choice = choose("least_response_time", response_seconds=[0.1, 0.3, 0.2], reported_load=[0.95, 0.1, 0.9])
    assert (choice.index, choice.reason) == (2, "fastest")


def test_all_nearly_full_then_the_least_loaded(choose: Any) -> None:
    choice = choose("least_response_time", response_seconds=[0.1, 0.3], reported_load=[0.99, 0.95])
    assert (choice.index, choice.reason) == (1, "overloaded")


def test_limit_is_a_parameter(choose: Any) -> None:
    columns = {"response_seconds": [0.1, 0.3], "reported_load": [0.6, 0.1]}
    assert choose("least_response_time", **columns).index == 0
    assert choose("least_response_time", {"load_limit": 0.5}, **columns).index == 1
