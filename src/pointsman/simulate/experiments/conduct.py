"""Runs all scenes of an experiment and keeps what it shows."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import msgspec

from pointsman.config.experiment import Paper
from pointsman.config.flags import ConfigError
from pointsman.config.sim import built
from pointsman.config.sweep import SweepConfig
from pointsman.simulate.cases import Case, Measured, cases_of
from pointsman.simulate.experiments import results
from pointsman.simulate.experiments.claims import check_claim
from pointsman.simulate.experiments.figures import figure
from pointsman.simulate.experiments.grid import Scene
from pointsman.simulate.experiments.results import Results, Row
from pointsman.simulate.plan import Plan, planned
from pointsman.simulate.standing import by_policy
from pointsman.simulate.sweep import Scene as SweepScene
from pointsman.simulate.sweep import saturation_rps, sweep
from pointsman.simulate.tell import notes as notes_of
from pointsman.simulate.tell_sweep import load_is

Measure = Callable[[Sequence[Case]], Sequence[Measured]]


def check(paper: Paper, scenes: Sequence[Scene]) -> None:
    """Whether figures, claims and policies can be what they are said to be. Raises ConfigError."""
    for name in results.wanted(paper):
        figure(name)
    run = {policy for scene in scenes for policy in scene.config.policies}
    for claim in paper.claim:
        check_claim(claim, run)
    for label, times in Counter(scene.label for scene in scenes).items():
        if times > 1:
            raise ConfigError(f"two scenes are labelled {label!r}; give each a label, and the grid no value twice")
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
    rows = results.rows_of(scene.label, by_policy(scene.config.policies, found), names)
    return rows, [_fleet(plan), *notes_of(plan)[1:]]


def _swept(scene: Scene, names: frozenset[str], measure: Measure) -> tuple[list[Row], list[str]]:
    unit = saturation_rps(scene.config, measure)
    swept = sweep(SweepScene(scene.label, scene.config, unit), measure)
    plan, what = (
        planned(msgspec.structs.replace(swept.scene.at(1.0), seeds=1)),
        load_is(SweepScene("", scene.config, unit)),
    )
    return results.swept_rows(scene.label, swept, names), [_fleet(plan), what, *_swept_notes(scene.config)]


def _fleet(plan: Plan) -> str:
    """Its nodes by kind, as a sentence."""
    kinds = Counter(re.sub(r"-\d+$", "", node.name) for node in plan.nodes)
    return f"Fleet: {', '.join(f'{count} {name}' for name, count in kinds.items())}."


def _swept_notes(config: SweepConfig) -> list[str]:
    seeds = "1 seed" if config.seeds == 1 else f"{config.seeds} seeds"
    return [
        f"{seeds} from {config.seed}, requests of up to {config.seconds:g} s, measured after {config.warm_up:.0%}.",
        f"SLO: TTFT ≤ {config.slo_ttft_s:g} s and TPOT ≤ {1000 * config.slo_tpot_s:g} ms.",
        "A highest rate is followed upwards to the first load that misses the target, and lies on a straight line "
        "between the two loads tried around it.",
    ]
