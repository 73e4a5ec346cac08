from typing import Any

import pytest

WORK = {"recent_work": [50.0, 20.0, 30.0], "prefill_base": [0.0] * 3}


def test_exploits_when_more_is_cached_than_must_be_computed(choose: Any) -> None:
    choice = choose("preble_e2", overlap=[501.0, 0.0, 400.0], **WORK)
    assert (choice.index, choice.reason, choice.scores.tolist()) == (0, "exploit", [499.0, 1000.0, 600.0])


def test_explores_at_half_of_the_prompt_or_less(choose: Any) -> None:
    choice = choose("preble_e2", overlap=[500.0, 0.0, 400.0], **WORK)
    assert (choice.index, choice.reason) == (1, "explore")
    assert choice.scores == pytest.approx([50.0 + 0.05, 20.0 + 0.1, 30.0 + 0.06])


def test_ties_of_the_cache_go_to_the_less_worked(choose: Any) -> None:
    assert choose("preble_e2", overlap=[800.0, 0.0, 800.0], **WORK).index == 2


def test_what_would_be_evicted_costs_its_recomputation_times_its_chance_of_use(choose: Any) -> None:
    """1,100 tokens are needed, 1,000 blocks of 16 hold 16,000: all are cached on the first, half on the second."""
    columns = {"kv_cached": [1000.0, 500.0], "prefill_base": [0.0, 0.0], "recent_work": [0.0, 0.0]}
    assert choose("preble_e2", **columns).scores == pytest.approx([0.1 + 0.1 * 0.11, 0.1])
    assert choose("preble_e2", {"reuse": 1.0}, **columns).scores == pytest.approx([0.1 + 0.11, 0.1])


def test_a_node_worked_much_more_than_the_least_is_not_exploited_where_that_is_wanted(choose: Any) -> None:
    cached = {"overlap": [900.0, 0.0, 0.0], **WORK}
    assert choose("preble_e2", **cached).index == 0
    assert choose("preble_e2", {"rebalance_above": 2.5}, **cached).index == 0
    moved = choose("preble_e2", {"rebalance_above": 2.4}, **cached)
    assert (moved.index, moved.reason) == (1, "explore")


def test_a_second_holder_within_the_bound_is_still_exploited(choose: Any) -> None:
    choice = choose("preble_e2", {"rebalance_above": 2.0}, overlap=[900.0, 0.0, 900.0], **WORK)
    assert (choice.index, choice.reason) == (2, "exploit")
