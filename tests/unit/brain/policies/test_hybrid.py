from typing import Any

import pytest

RESPONSE = {"response_seconds": [0.1, 0.3, 0.2], "recovery_slope": [0.0, 0.1, 0.0]}


def test_calm_fleet_least_response_time(choose: Any) -> None:
    choice = choose("hybrid", **RESPONSE, reported_load=[0.6, 0.6, 0.6], memo="recovery")
    assert (choice.index, choice.reason, choice.memo) == (0, "response", "response")


def test_one_overloaded_fastest_recovery(choose: Any) -> None:
    choice = choose("hybrid", **RESPONSE, reported_load=[0.6, 0.6, 0.95], memo="response")
    assert (choice.index, choice.reason, choice.memo) == (1, "recovery", "recovery")


@pytest.mark.parametrize(("memo", "mode", "index"), [("recovery", "recovery", 1), ("response", "response", 0)])
def test_in_between_the_mode_stays(choose: Any, memo: str, mode: str, index: int) -> None:
    choice = choose("hybrid", **RESPONSE, reported_load=[0.8, 0.8, 0.8], memo=memo)
    assert (choice.index, choice.memo) == (index, mode)


def test_first_choice_in_between_is_by_response(choose: Any) -> None:
    assert choose("hybrid", **RESPONSE, reported_load=[0.8, 0.8, 0.8]).reason == "response"


def test_slow_node_is_unavailable(choose: Any) -> None:
    columns = {"response_seconds": [2.5, 1.9], "recovery_slope": [0.1, 0.05], "reported_load": [0.85, 0.85]}
    assert choose("hybrid", **columns, memo="recovery").index == 1


def test_unless_all_are_slow(choose: Any) -> None:
    columns = {"response_seconds": [2.5, 3.9], "recovery_slope": [0.01, 0.05], "reported_load": [0.85, 0.85]}
    assert choose("hybrid", **columns, memo="recovery").index == 1
