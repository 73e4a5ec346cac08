from typing import Any

import pytest


def test_token_work_in_seconds_and_a_penalty_for_memory(choose: Any) -> None:
    choice = choose("smg_least_load", backlog_tokens=[1000.0, 0.0], kv_reserved=[0.0, 500.0])
    assert choice.scores == pytest.approx([0.1, 0.15])
    assert choice.index == 0


def test_full_memory_outweighs_any_usual_queue_and_stays_finite(choose: Any) -> None:
    choice = choose("smg_least_load", backlog_tokens=[1_000_000.0, 0.0], kv_reserved=[0.0, 1200.0])
    assert choice.scores == pytest.approx([100.0, 0.15 * 999.0])
    assert choice.index == 0
