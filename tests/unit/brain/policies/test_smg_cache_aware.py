from typing import Any

import pytest

WORK = {"sent_tokens": [3000.0, 2000.0, 1000.0, 4000.0]}


def test_a_miss_goes_where_the_work_is_least(choose: Any) -> None:
    choice = choose("smg_cache_aware", **WORK, overlap=[300.0, 0.0, 0.0, 0.0])
    assert (choice.index, choice.reason) == (2, "miss")
    assert choice.scores == pytest.approx([0.3, 0.2, 0.1, 0.4])


def test_of_the_best_holders_the_least_loaded(choose: Any) -> None:
    choice = choose("smg_cache_aware", **WORK, overlap=[800.0, 800.0, 700.0, 0.0])
    assert (choice.index, choice.reason) == (1, "cache")


@pytest.mark.parametrize(
    ("outstanding", "reason"),
    [
        ([12.0, 2.0, 2.0, 0.0], "spill"),  # mean 4: 1.5 times it is 6, the margin 4
        ([8.0, 4.0, 4.0, 0.0], "cache"),  # mean 4: not more than 4 above it
        ([60.0, 40.0, 40.0, 40.0], "cache"),  # mean 45: not more than 1.5 times it
        ([69.0, 37.0, 37.0, 37.0], "spill"),  # mean 45: more than 2 x 6.7 above it, far less than 64
    ],
)
def test_a_holder_far_above_the_mean_is_passed_over(choose: Any, outstanding: list[float], reason: str) -> None:
    choice = choose("smg_cache_aware", **WORK, overlap=[900.0, 0.0, 0.0, 0.0], outstanding=outstanding)
    assert choice.reason == reason
    assert choice.index == (0 if reason == "cache" else 2)


def test_another_holder_that_is_not_hot_is_taken_first(choose: Any) -> None:
    choice = choose("smg_cache_aware", **WORK, overlap=[900.0, 0.0, 0.0, 900.0], outstanding=[12.0, 2.0, 2.0, 0.0])
    assert (choice.index, choice.reason) == (3, "cache")


def test_no_spill_to_another_hot_node(choose: Any) -> None:
    queues = [30.0, 0.0, 0.0, 30.0, 0.0]
    view = {"overlap": [900.0, 0.0, 0.0, 0.0, 0.0], "sent_tokens": [0.0, 9000.0, 8000.0, 0.0, 9000.0]}
    assert choose("smg_cache_aware", **view, outstanding=queues).index == 2


def test_guards_and_load_can_be_set(choose: Any) -> None:
    view = {**WORK, "overlap": [900.0, 0.0, 0.0, 0.0], "outstanding": [3.0, 0.0, 1.0, 0.0]}
    assert choose("smg_cache_aware", **view).reason == "cache"
    assert choose("smg_cache_aware", {"spill_abs": 1.0}, **view).reason == "spill"
    assert choose("smg_cache_aware", {"cache_threshold": 0.9, "load": "least_requests"}, **view).index in (1, 3)
