from typing import Any

import pytest

REPORTED = {
    "reported_waiting": [2.0, 0.0, 0.0],
    "sent_tokens": [0.0, 3000.0, 0.0],
    "reported_kv_usage": [0.0, 0.0, 0.5],
}


def test_reported_queue_and_what_was_sent_since_in_seconds_and_a_penalty_for_memory(choose: Any) -> None:
    choice = choose("smg_least_load", **REPORTED, backlog_tokens=[0.0, 0.0, 9000.0], kv_reserved=[900.0, 0.0, 0.0])
    assert choice.scores == pytest.approx([2 * 1024 * 1e-4, 0.3, 0.15])
    assert choice.index == 2


def test_one_throughput_for_all_as_where_engines_report_none(choose: Any) -> None:
    choice = choose("smg_least_load", {"throughput": 2000.0, "mean_prompt": 500.0}, **REPORTED)
    assert choice.scores == pytest.approx([0.5, 1.5, 0.15])


def test_our_own_account_instead_of_reports(choose: Any) -> None:
    choice = choose("smg_least_load", {"account": "booked"}, backlog_tokens=[1000.0, 0.0], kv_reserved=[0.0, 500.0])
    assert choice.scores == pytest.approx([0.1, 0.15])
    assert choice.index == 0


def test_full_memory_outweighs_any_usual_queue_and_stays_finite(choose: Any) -> None:
    choice = choose("smg_least_load", sent_tokens=[1_000_000.0, 0.0], reported_kv_usage=[0.0, 1.0])
    assert choice.scores == pytest.approx([100.0, 0.15 * 999.0])
    assert choice.index == 0
