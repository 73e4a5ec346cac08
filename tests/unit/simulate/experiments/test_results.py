"""Rows of results."""

import msgspec
from tests.support.measured import measured

from pointsman.config.experiment import Claim, Paper, TableSpec
from pointsman.config.sweep import SweepConfig
from pointsman.sim.statistics import Interval
from pointsman.simulate.experiments.results import Results, Row, rows_of, swept_rows, wanted, with_scene
from pointsman.simulate.standing import PolicyRuns
from pointsman.simulate.sweep import Capacity, Point, Scene, Swept

NAMES = frozenset({"ttft_mean_s", "in_slo", "success", "rate_at_90"})


def runs(name: str) -> PolicyRuns:
    each = (measured(name, seed, ttft_mean_s=seed + 0.123456, in_slo=1.0) for seed in (1, 2))
    return PolicyRuns(name, tuple(each))


def test_what_is_shown_or_claimed_is_kept_and_success_with_it() -> None:
    claim = Claim(says="s", figure="busy", policy="random", at_least=1.0)
    tables = (TableSpec(figures=("in_slo", "e2e_mean_s")),)
    assert wanted(Paper(title="", question="", settings={}, table=tables, claim=(claim,))) == {
        "in_slo",
        "e2e_mean_s",
        "busy",
        "success",
    }


def test_a_row_is_the_mean_and_its_interval_to_four_digits() -> None:
    (row,) = rows_of("here", [runs("random")], NAMES)
    assert row.figures == {"in_slo": 1.0, "success": 1.0, "ttft_mean_s": 1.623}
    assert row.spans["ttft_mean_s"] == (1.123, 2.123)
    assert (row.scene, row.policy, row.load) == ("here", "random", None)


def test_a_sweep_gives_a_row_a_load_and_one_of_highest_rates() -> None:
    capacities = (
        Capacity("random", 0.9, 7.12345, 0.7, "", Interval(7.0, 7.2)),
        Capacity("random", 0.99, 5.0, 0.5, "below", None),
    )
    points = tuple(Point(load, 10 * load, (runs("random"),)) for load in (0.5, 1.0))
    swept = Swept(Scene("", SweepConfig(), 10.0), points, {"random": {}}, capacities)
    *by_load, highest = swept_rows("here", swept, NAMES)
    assert [row.load for row in by_load] == [0.5, 1.0]
    assert highest == Row(
        "here",
        "random",
        {"rate_at_90": 7.123, "rate_at_99": 5.0},
        spans={"rate_at_90": (7.0, 7.2)},
        bounds={"rate_at_99": "below"},
    )


def test_results_are_read_as_they_were_written() -> None:
    results = Results("x", False, {"": ["note"]}, (Row("", "random", {"in_slo": 0.5}, 0.7, {"in_slo": (0.4, 0.6)}),))
    assert msgspec.json.decode(msgspec.json.encode(results), type=Results) == results


def test_a_scene_that_is_measured_anew_stays_in_its_place() -> None:
    results = Results("x", False, {}, ())
    for scene, policy in (("one", "a"), ("two", "a"), ("one", "b")):
        results = with_scene(results, scene, [Row(scene, policy, {})], [policy])
    assert [(row.scene, row.policy) for row in results.rows] == [("one", "b"), ("two", "a")]
    assert results.notes == {"one": ["b"], "two": ["a"]}
