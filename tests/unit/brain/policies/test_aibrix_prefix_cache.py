from typing import Any


def test_an_uneven_fleet_is_balanced_first(choose: Any) -> None:
    choice = choose("aibrix_prefix_cache", overlap=[900.0, 0.0], outstanding=[9.0, 0.0])
    assert (choice.index, choice.reason) == (1, "balance")
    assert choose("aibrix_prefix_cache", overlap=[900.0, 0.0], outstanding=[8.0, 0.0]).index == 0


def test_the_best_prefix_among_those_that_are_not_crowded(choose: Any) -> None:
    choice = choose("aibrix_prefix_cache", overlap=[900.0, 800.0, 0.0, 0.0, 0.0], outstanding=[8.0, 2.0, 2.0, 2.0, 2.0])
    assert (choice.index, choice.reason) == (1, "cache")


def test_equal_prefixes_and_misses_go_to_the_fewest_requests(choose: Any) -> None:
    assert choose("aibrix_prefix_cache", overlap=[500.0, 500.0], outstanding=[3.0, 2.0]).index == 1
    choice = choose("aibrix_prefix_cache", outstanding=[3.0, 2.0])
    assert (choice.index, choice.reason) == (1, "miss")


def test_later_releases_balance_only_a_fleet_whose_busiest_is_far_above_the_mean(choose: Any) -> None:
    later = {"factor": 2.0}
    even = {"overlap": [900.0, 0.0, 0.0], "outstanding": [9.0, 1.0, 1.0]}  # mean 3.7: 9 is not above 9.3
    assert choose("aibrix_prefix_cache", later, **even).reason == "cache"
    assert choose("aibrix_prefix_cache", **{**even, "outstanding": [10.0, 1.0, 1.0]}).reason == "balance"
    uneven = {"overlap": [900.0, 0.0, 300.0, 0.0], "outstanding": [8.0, 0.0, 0.0, 0.0]}
    choice = choose("aibrix_prefix_cache", later, **uneven)
    assert (choice.index, choice.reason) == (2, "balance")
