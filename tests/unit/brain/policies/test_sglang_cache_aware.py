from typing import Any


def test_out_of_balance_the_shortest_queue_wins_over_the_cache(choose: Any) -> None:
    choice = choose("sglang_cache_aware", overlap=[900.0, 0.0], outstanding=[70.0, 5.0])
    assert (choice.index, choice.reason) == (1, "balance")


def test_both_thresholds_of_balance_must_be_passed(choose: Any) -> None:
    for queues in ([64.0, 0.0], [180.0, 120.0]):
        assert choose("sglang_cache_aware", overlap=[900.0, 0.0], outstanding=queues).reason == "cache"


def test_balanced_the_best_prefix_beyond_the_threshold(choose: Any) -> None:
    choice = choose("sglang_cache_aware", overlap=[301.0, 100.0], outstanding=[60.0, 0.0])
    assert (choice.index, choice.reason) == (0, "cache")


def test_a_miss_goes_to_the_emptiest_cache_whatever_its_queue(choose: Any) -> None:
    view = {"overlap": [300.0, 0.0], "kv_cached": [10.0, 5.0], "outstanding": [0.0, 50.0]}
    choice = choose("sglang_cache_aware", **view)
    assert (choice.index, choice.reason) == (1, "miss")
    assert choice.scores.tolist() == [160.0, 80.0]
    assert choose("sglang_cache_aware", {"miss": "least_requests"}, **view).index == 0
