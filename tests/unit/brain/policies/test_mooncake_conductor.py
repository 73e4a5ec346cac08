from typing import Any

import pytest


def test_the_least_time_to_the_first_token(choose: Any) -> None:
    choice = choose("mooncake_conductor", overlap=[800.0, 0.0], backlog_tokens=[1000.0, 0.0])
    assert choice.scores == pytest.approx([0.1 + 0.01 + 0.02, 0.01 + 0.1])
    assert choice.index == 1


def test_a_node_fetches_a_prefix_that_is_much_longer_than_its_own(choose: Any) -> None:
    parameters = {"transfer_per_token": 1e-5}
    choice = choose("mooncake_conductor", parameters, overlap=[800.0, 0.0, 300.0], backlog_tokens=[1000.0, 0.0, 0.0])
    assert choice.scores == pytest.approx([0.13, 0.008 + 0.01 + 0.02, 0.01 + 0.07])
    assert choice.index == 1
