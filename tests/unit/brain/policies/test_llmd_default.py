from typing import Any

import pytest


def test_the_weighted_sum_of_three_scores(choose: Any) -> None:
    choice = choose(
        "llmd_default", overlap=[1000.0, 0.0, 0.0], reported_waiting=[10.0, 5.0, 0.0], kv_reserved=[500.0, 0.0, 1000.0]
    )
    assert choice.scores == pytest.approx([-(0.0 + 1.0 + 3.0), -(1.0 + 2.0 + 0.0), -(2.0 + 0.0 + 0.0)])
    assert choice.index == 0


def test_it_sees_reported_queues_only_and_equal_ones_count_for_nobody(choose: Any) -> None:
    choice = choose("llmd_default", reported_waiting=[3.0, 3.0], outstanding=[50.0, 0.0], backlog_tokens=[9000.0, 0.0])
    assert choice.scores.tolist() == [-2.0, -2.0]


def test_memory_as_booked_or_as_reported(choose: Any) -> None:
    view = {"kv_reserved": [500.0, 0.0], "reported_kv_usage": [0.25, 1.0]}
    assert choose("llmd_default", **view).scores == pytest.approx([-1.0, -2.0])
    assert choose("llmd_default", {"kv_from": "reported"}, **view).scores == pytest.approx([-1.5, 0.0])
