"""Policies against load: which runs that takes, and what their results say together.

First every policy runs at every load. Then, a few times over, it runs in the middle between the last load at which it
kept the objective and the first at which it did not, so that the rates people plan with are known better than the grid
is fine; or beyond the grid, where one of the two is not on it.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import msgspec
import numpy as np

from pointsman.config.sim_load import trace_runs
from pointsman.config.sweep import SweepConfig
from pointsman.sim.statistics import Interval, bootstrap
from pointsman.simulate.cases import Case, Measured, cases_of
from pointsman.simulate.crossing import Bound, crossing, next_loads
from pointsman.simulate.plan import planned
from pointsman.simulate.standing import PolicyRuns, by_policy

TARGETS = (0.9, 0.99)
"""Shares of requests inside the objective whose highest rate is looked for."""
REFERENCE = "least_requests"
OVERLOAD = 1.5
"""Of the upper bound on what a fleet can serve: enough for the reference to have always something to do."""

Measure = Callable[[Sequence[Case]], Sequence[Measured]]
"""Runs cases, and gives the results in their order."""


class Scene(msgspec.Struct, frozen=True):
    """What is the same at all loads. `unit_rps`: requests per second at load 1; `label`: "" for the only one."""

    label: str
    config: SweepConfig
    unit_rps: float

    def at(self, load: float) -> SweepConfig:
        """The settings at that load."""
        if trace_runs(self.config):
            return msgspec.structs.replace(self.config, rate_factor=load)
        return msgspec.structs.replace(self.config, rate=load * self.unit_rps)


class Point(msgspec.Struct, frozen=True):
    """All policies at one load."""

    load: float
    rate_rps: float
    results: tuple[PolicyRuns, ...]


class Capacity(msgspec.Struct, frozen=True):
    """The highest rate at which `target` of a policy's requests are inside the objective.

    `bound`: it lies below or above what was tried, of which `rate_rps` is the nearest. `interval`: over seeds.
    """

    policy: str
    target: float
    rate_rps: float
    load: float
    bound: Bound
    interval: Interval | None


class Swept(msgspec.Struct, frozen=True):
    """A scene's results. `tried`: each policy's runs by load, those of the search included."""

    scene: Scene
    points: tuple[Point, ...]
    tried: dict[str, dict[float, PolicyRuns]]
    capacities: tuple[Capacity, ...]


def scenes_of(config: SweepConfig, measure: Measure) -> list[Scene]:
    """Fleets by delays by shares of plain requests; measures what each fleet serves. Raises ConfigError."""
    fleets: list[dict[str, Any]] = [{"fleet": name} for name in config.fleets] or [{}]
    delays: list[dict[str, Any]] = [{"feedback_delay_s": s, "report_delay_s": s} for s in config.delays] or [{}]
    plains: list[dict[str, Any]] = [{"plain": share} for share in config.plains] or [{}]
    found = []
    for fleet in fleets:
        on_it = msgspec.structs.replace(config, **fleet)
        unit = saturation_rps(on_it, measure)
        for late, plain in product(delays, plains):
            found.append(Scene(_label(fleet | late | plain), msgspec.structs.replace(on_it, **late, **plain), unit))
    return found


def saturation_rps(config: SweepConfig, measure: Measure) -> float:
    """Requests per second at load 1: those of the trace at its pace, or what the reference serves under overload."""
    if trace_runs(config):
        plan = planned(msgspec.structs.replace(config, seeds=1))
        return sum(len(dialogue.asks) for dialogue in plan.demands[0].dialogues) / plan.seconds
    bound = planned(msgspec.structs.replace(config, load=1.0, seeds=1)).rate
    assert bound is not None
    flooded = msgspec.structs.replace(config, rate=OVERLOAD * bound)
    found = measure(cases_of(flooded, (REFERENCE,), "overloaded"))
    return float(np.mean([one.summary.throughput_rps for one in found]))


def sweep(scene: Scene, measure: Measure, *, shaped: bool = False) -> Swept:
    """Run the grid and the search."""
    config = scene.config
    everyone = dict.fromkeys(config.loads, config.policies)
    tried: dict[str, dict[float, PolicyRuns]] = {name: {} for name in config.policies}
    _try(scene, everyone, tried, measure, shaped)
    points = tuple(
        Point(load, load * scene.unit_rps, tuple(tried[name][load] for name in config.policies))
        for load in sorted(config.loads)
    )
    for _ in range(config.refine):
        _try(scene, _wanted(tried), tried, measure, shaped=False)
    capacities = (_capacity(scene, name, tried[name], target) for name, target in product(config.policies, TARGETS))
    return Swept(scene, points, tried, tuple(capacities))


def _try(
    scene: Scene,
    wanted: Mapping[float, tuple[str, ...]],
    tried: dict[str, dict[float, PolicyRuns]],
    measure: Measure,
    shaped: bool,
) -> None:
    """Run the policies wanted at each load, all in one go, and enter what came of it in `tried`."""
    batches = [
        (load, names, cases_of(scene.at(load), names, _at(scene, load), shaped=shaped))
        for load, names in sorted(wanted.items())
        if names
    ]
    found = iter(measure([case for _, _, cases in batches for case in cases]))
    for load, names, cases in batches:
        for result in by_policy(names, [next(found) for _ in cases]):
            tried[result.name][load] = result


def _wanted(tried: Mapping[str, Mapping[float, PolicyRuns]]) -> dict[float, tuple[str, ...]]:
    """Who is to run at which further loads."""
    wanted: dict[float, tuple[str, ...]] = {}
    for name, runs in tried.items():
        for load in next_loads({load: _share(one) for load, one in runs.items()}, TARGETS):
            wanted[load] = (*wanted.get(load, ()), name)
    return wanted


def _capacity(scene: Scene, name: str, runs: Mapping[float, PolicyRuns], target: float) -> Capacity:
    found = crossing({load: _share(one) for load, one in runs.items()}, target)
    seeds = range(scene.config.seeds)
    each = [crossing({load: _share_of(one.runs[seed]) for load, one in runs.items()}, target) for seed in seeds]
    span = bootstrap([one.load * scene.unit_rps for one in each]) if not any(one.bound for one in each) else None
    return Capacity(name, target, found.load * scene.unit_rps, found.load, found.bound, span)


def _share(result: PolicyRuns) -> float:
    return float(np.mean([_share_of(run) for run in result.runs]))


def _share_of(run: Measured) -> float:
    return run.summary.in_slo or 0.0


def _at(scene: Scene, load: float) -> str:
    return ", ".join(part for part in (scene.label, f"load {load:.3g}") if part)


def _label(parts: Mapping[str, object]) -> str:
    words = {"fleet": "{}", "feedback_delay_s": "{:g} s late", "plain": "{:.0%} plain"}
    return ", ".join(words[key].format(value) for key, value in parts.items() if key in words)
