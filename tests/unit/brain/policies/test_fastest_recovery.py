from typing import Any

import pytest


def test_steepest_fall_of_load(choose: Any) -> None:
    choice = choose("fastest_recovery", recovery_slope=[0.01, 0.03, -0.02], reported_load=[0.1, 0.8, 0.0])
    assert choice.index == 1
    assert choice.scores.tolist() == [-0.01, -0.03, 0.02]


def test_nobody_recovers_then_headroom(choose: Any) -> None:
    choice = choose("fastest_recovery", recovery_slope=[0.0, -0.1], reported_load=[0.6, 0.3])
    assert choice.index == 1
    assert choice.scores == pytest.approx([-0.3 / 60, -0.6 / 60])


def test_recovering_but_overloaded_is_no_candidate_and_no_reason_against_headroom(choose: Any) -> None:
    choice = choose("fastest_recovery", recovery_slope=[0.5, 0.0, -0.1], reported_load=[0.95, 0.6, 0.3])
    assert choice.index == 2


def test_headroom_ignores_slope(choose: Any) -> None:
    columns = {"recovery_slope": [0.05, 0.0], "reported_load": [0.6, 0.3]}
    assert choose("fastest_recovery", **columns).index == 0
    assert choose("fastest_recovery", {"measure": "headroom"}, **columns).index == 1


def test_all_overloaded_then_the_least_loaded(choose: Any) -> None:
    choice = choose("fastest_recovery", recovery_slope=[0.5, 0.0], reported_load=[1.0, 0.95])
    assert (choice.index, choice.reason) == (1, "overloaded")
