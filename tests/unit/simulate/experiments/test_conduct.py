"""An experiment whose runs nobody makes."""

from collections.abc import Sequence
from typing import Any

import pytest
from tests.support.measured import measured

from pointsman.config.experiment import Claim, ExperimentConfig, Paper, TableSpec
from pointsman.config.flags import ConfigError
from pointsman.simulate.cases import Case, Measured
from pointsman.simulate.experiments.conduct import Measure, check, conducted
from pointsman.simulate.experiments.grid import Scene, scenes_of
from pointsman.simulate.experiments.results import Results

NONE = Results("x", False, {}, ())
SETTINGS = {"policies": ["random", "jffc"], "seeds": 2, "seconds": 30.0}


def paper(**more: Any) -> Paper:
    given: dict[str, Any] = {"settings": SETTINGS, "table": (TableSpec(figures=("in_slo", "rate_at_90")),)}
    return Paper(title="T", question="Q?", **given | more)


def measure(cases: Sequence[Case]) -> list[Measured]:
    """The faster requests come, the fewer are in time."""
    rates = [(case.config.rate or 0.0) for case in cases]
    return [
        measured(case.policy, case.config.seed, in_slo=1 - rate / 10, throughput_rps=8.0)
        for case, rate in zip(cases, rates, strict=True)
    ]


def test_scenes_are_run_in_order_and_told_by_their_label() -> None:
    what, begun = paper(grid={"rate": [1.0, 2.0]}), []

    def measure_for(scene: Scene) -> Measure:
        begun.append(scene.label)
        return measure

    first, found = conducted(NONE, what, scenes_of(what, ExperimentConfig()), measure_for)
    assert first.rows == found.rows[:2]
    assert begun == list(found.notes) == ["1 requests/s", "2 requests/s"]
    assert [(row.scene, row.policy, row.figures["in_slo"]) for row in found.rows] == [
        ("1 requests/s", "random", 0.9),
        ("1 requests/s", "jffc", 0.9),
        ("2 requests/s", "random", 0.8),
        ("2 requests/s", "jffc", 0.8),
    ]
    assert "2 seeds" in " ".join(found.notes["1 requests/s"])


def test_loads_are_swept_and_highest_rates_found() -> None:
    what = paper(settings=SETTINGS | {"loads": [0.05, 0.25]})
    (found,) = conducted(NONE, what, scenes_of(what, ExperimentConfig()), lambda _: measure)
    assert [(row.load, row.figures["in_slo"]) for row in found.rows if row.load] == [
        (0.05, 0.96),
        (0.05, 0.96),
        (0.25, 0.8),
        (0.25, 0.8),
    ]
    assert found.rows[-1].figures["rate_at_90"] == pytest.approx(1.0, rel=0.01)
    assert found.notes[""][0].startswith("Fleet: ")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"table": (TableSpec(figures=("speed",)),)}, "no figure 'speed'"),
        ({"claim": (Claim(says="so", figure="in_slo"),)}, "either `order` or `policy`"),
        ({"settings": {"policies": ["jfc"]}}, "did you mean 'jffc'"),
        ({"claim": (Claim(says="so", figure="in_slo", policy="sed", at_most=1.0),)}, "'sed' is not run"),
        ({"grid": {"rate": [1.0, 2.0, 1.0]}}, "two scenes are labelled '1 requests/s'"),
    ],
)
def test_what_is_wrong_is_said_before_anything_runs(more: dict[str, Any], said: str) -> None:
    what = paper(**more)
    with pytest.raises(ConfigError, match=said):
        check(what, scenes_of(what, ExperimentConfig()))
