"""Runs all scenes of an experiment and keeps what it shows."""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from pointsman.config.experiment import Paper
from pointsman.config.sim import built
from pointsman.simulate.cases import Case, Measured, cases_of
from pointsman.simulate.experiments import results
from pointsman.simulate.experiments.claims import check_claim
from pointsman.simulate.experiments.figures import figure
from pointsman.simulate.experiments.grid import Scene
from pointsman.simulate.experiments.results import Results, Row
from pointsman.simulate.plan import planned
from pointsman.simulate.standing import by_policy
from pointsman.simulate.sweep import Scene as SweepScene
from pointsman.simulate.sweep import saturation_rps, sweep
from pointsman.simulate.tell import notes as notes_of
from pointsman.simulate.tell_sweep import notes as sweep_notes

Measure = Callable[[Sequence[Case]], Sequence[Measured]]


def check(paper: Paper, scenes: Sequence[Scene]) -> None:
    """Whether figures, claims and policies can be what they are said to be. Raises ConfigError."""
    for name in results.wanted(paper):
        figure(name)
    for claim in paper.claim:
        check_claim(claim)
    for scene in scenes:
        for policy in scene.config.policies:
            built(scene.config, policy, "policies")


def conducted(
    before: Results, paper: Paper, scenes: Sequence[Scene], measure_for: Callable[[Scene], Measure]
) -> Iterator[Results]:
    """Measure every scene; after each, all results so far: those `before`, but for scenes that are measured anew.

    Raises ConfigError, and what measuring raises.
    """
    names, found = results.wanted(paper), before
    for scene in scenes:
        run = _swept if scene.swept else _compared
        found = results.with_scene(found, scene.label, *run(scene, names, measure_for(scene)))
        yield found


def _compared(scene: Scene, names: frozenset[str], measure: Measure) -> tuple[list[Row], list[str]]:
    plan = planned(scene.config)
    found = measure(cases_of(plan.settled(), scene.config.policies, scene.label))
    return results.rows_of(scene.label, by_policy(scene.config.policies, found), names), notes_of(plan)


def _swept(scene: Scene, names: frozenset[str], measure: Measure) -> tuple[list[Row], list[str]]:
    unit = saturation_rps(scene.config, measure)
    swept = sweep(SweepScene(scene.label, scene.config, unit), measure)
    fleet = notes_of(planned(msgspec.structs.replace(swept.scene.at(1.0), seeds=1)))[0]
    return results.swept_rows(scene.label, swept, names), [fleet, *sweep_notes([swept], scene.config)]
