"""Claims about results."""

from typing import Any

import pytest

from pointsman.config.experiment import Claim
from pointsman.config.flags import ConfigError
from pointsman.simulate.experiments.claims import Verdict, check_claim, judged
from pointsman.simulate.experiments.results import Row

ROWS = (
    Row("now", "a", {"ttft_mean_s": 6.0}),
    Row("now", "b", {"ttft_mean_s": 3.0}),
    Row("now", "c", {"ttft_mean_s": 2.99}),
    Row("late", "a", {"ttft_mean_s": 18.0}),
    Row("late", "b", {"ttft_mean_s": 3.3}),
    Row("late", "c", {"ttft_mean_s": 1.0}),
)


def claim(**more: Any) -> Claim:
    return Claim(says="so", **{"figure": "ttft_mean_s"} | more)


def test_an_order_holds_where_every_step_falls_by_more_than_a_tie() -> None:
    assert judged(claim(order=("a", "b", "c")), ROWS) == [
        Verdict("now", None, False, "6.00 > 3.00 ≯ 2.99 s"),
        Verdict("late", None, True, "18.00 > 3.30 > 1.00 s"),
    ]


def test_a_value_is_compared_in_its_unit() -> None:
    rows = (Row("", "a", {"in_slo": 0.93}),)
    (found,) = judged(claim(figure="in_slo", policy="a", at_least=90), rows)
    assert found == Verdict("", None, True, "93.0 %")


def test_one_policy_over_another() -> None:
    (found,) = judged(claim(policy="b", over="a", at_most=0.4, scene="now"), ROWS)
    assert found == Verdict("now", None, False, "3.00 / 6.00 = 0.50 ×")


@pytest.mark.parametrize("bound", [{"at_most": 0.5}, {"at_least": 2.0}])
def test_nothing_beside_nothing_breaks_no_claim(bound: dict[str, float]) -> None:
    rows = [Row("", name, {"preemptions": 0.0}) for name in "ab"]
    (found,) = judged(claim(figure="preemptions", policy="a", over="b", **bound), rows)
    assert found == Verdict("", None, True, "0 / 0, equal")


def test_one_scene_over_another() -> None:
    (found,) = judged(claim(policy="a", scene="late", over_scene="now", at_least=2.0), ROWS)
    assert found == Verdict("late", None, True, "18.00 / 6.00 = 3.00 ×")


def test_loads_are_judged_one_by_one() -> None:
    rows = [Row("", "a", {"in_slo": share}, load) for share, load in ((1.0, 0.5), (0.8, 0.9))]
    rows.append(Row("", "a", {"rate_at_90": 5.0}, bounds={"rate_at_90": "above"}))
    every = judged(claim(figure="in_slo", policy="a", at_least=90), rows)
    assert [(one.load, one.holds) for one in every] == [(0.5, True), (0.9, False)]
    (one,) = judged(claim(figure="in_slo", policy="a", at_least=90, load=0.5), rows)
    assert one.holds
    (rate,) = judged(claim(figure="rate_at_90", policy="a", at_least=4), rows)
    assert rate.measured == "> 5.00 /s"


def test_who_was_not_run_is_named() -> None:
    with pytest.raises(ConfigError, match="of 'd' was not measured"):
        judged(claim(policy="d", at_most=1.0), ROWS)
    with pytest.raises(ConfigError, match="no scene has 'soon'"):
        judged(claim(policy="a", over_scene="soon", at_most=1.0), ROWS)


@pytest.mark.parametrize(
    "wrong",
    [
        {"figure": "speed", "order": ("a", "b")},
        {},
        {"order": ("a", "b"), "policy": "a", "at_most": 1.0},
        {"policy": "a"},
        {"policy": "a", "at_most": 1.0, "at_least": 1.0},
    ],
)
def test_what_cannot_be_judged_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        check_claim(claim(**wrong), {"a", "b"})


@pytest.mark.parametrize(
    "given", [{"order": ("a", "c")}, {"policy": "c", "at_most": 1.0}, {"policy": "a", "over": "c", "at_most": 1.0}]
)
def test_a_policy_that_nobody_runs_is_told_before_the_runs(given: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="'c' is not run; there are: a, b"):
        check_claim(claim(**given), {"b", "a"})
