"""What an experiment measured, small enough to be kept beside it: a row a scene, load and policy."""

from collections.abc import Iterable, Sequence

import msgspec

from pointsman.config.experiment import Paper
from pointsman.simulate.crossing import Bound
from pointsman.simulate.experiments.figures import CAPACITY, figure
from pointsman.simulate.experiments.of_kinds import intervals_of_kinds, means_of_kinds
from pointsman.simulate.standing import PolicyRuns
from pointsman.simulate.sweep import Capacity, Swept
from pointsman.simulate.tell import intervals

DIGITS = 4
BEYOND = {"below": "< ", "above": "> "}


class Row(msgspec.Struct, frozen=True, omit_defaults=True):
    """`load`: None where none was swept, and for highest rates; `spans`: the ends of figures' intervals.

    `bounds`: of highest rates that lie "below" or "above" all that was tried.
    """

    scene: str
    policy: str
    figures: dict[str, float]
    load: float | None = None
    spans: dict[str, tuple[float, float]] = {}
    bounds: dict[str, Bound] = {}


class Results(msgspec.Struct, frozen=True):
    """`notes`: by scene, what was simulated, as sentences."""

    experiment: str
    quick: bool
    notes: dict[str, list[str]]
    rows: tuple[Row, ...]


def with_scene(results: Results, scene: str, rows: Sequence[Row], notes: Sequence[str]) -> Results:
    """The same with that scene's rows: in place of those it had, else after the others."""
    by_scene = {one: [row for row in results.rows if row.scene == one] for one in results.notes} | {scene: list(rows)}
    return msgspec.structs.replace(
        results,
        notes=results.notes | {scene: list(notes)},
        rows=tuple(row for each in by_scene.values() for row in each),
    )


def wanted(paper: Paper) -> frozenset[str]:
    """Names of the figures that are shown, drawn or claimed."""
    shown = {name for table in paper.table for name in table.figures}
    return frozenset(shown | {claim.figure for claim in paper.claim} | {"success", *paper.chart})


def rows_of(scene: str, results: Iterable[PolicyRuns], names: frozenset[str], load: float | None = None) -> list[Row]:
    """A row a policy: means over seeds, and the intervals of those that have any."""
    found = []
    for result in results:
        mean = msgspec.structs.asdict(result.mean()) | means_of_kinds(result)
        spans = intervals(result) | intervals_of_kinds(result)
        figures = {name: rounded(mean[name]) for name in names if mean.get(name) is not None}
        kept = {name: _span(spans[name]) for name in names if name in spans}
        found.append(Row(scene, result.name, dict(sorted(figures.items())), load, dict(sorted(kept.items()))))
    return found


def swept_rows(scene: str, swept: Swept, names: frozenset[str]) -> list[Row]:
    """Those of every load of the grid, and one a policy with its highest rates."""
    rows = [row for point in swept.points for row in rows_of(scene, point.results, names, point.load)]
    highest = {policy: [one for one in swept.capacities if one.policy == policy] for policy in swept.tried}
    return [*rows, *(_capacity_row(scene, policy, capacities) for policy, capacities in highest.items())]


def _capacity_row(scene: str, policy: str, capacities: Sequence[Capacity]) -> Row:
    named = {f"{CAPACITY}{100 * one.target:.0f}": one for one in capacities}
    return Row(
        scene,
        policy,
        {name: rounded(one.rate_rps) for name, one in named.items()},
        spans={name: _span((one.interval.low, one.interval.high)) for name, one in named.items() if one.interval},
        bounds={name: one.bound for name, one in named.items() if one.bound},
    )


def told(row: Row, name: str) -> str:
    """One figure of the row without its unit; `<` or `>` before a highest rate that lies beyond all that was tried."""
    return BEYOND.get(row.bounds.get(name, ""), "") + figure(name).text(row.figures.get(name))


def rounded(value: float) -> float:
    """To four digits: more than is known of any figure."""
    return float(f"{value:.{DIGITS}g}")


def _span(ends: Sequence[float]) -> tuple[float, float]:
    return rounded(ends[0]), rounded(ends[1])
