"""Every run's figures as rows of a CSV file: for spreadsheets and notebooks."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO

import msgspec

from pointsman.sim.summary import LENGTHS, Summary
from pointsman.simulate.robustness import Held
from pointsman.simulate.standing import PolicyRuns
from pointsman.simulate.sweep import Swept

_BY_LENGTH = "slowdown_by_length"


def sheet(results: Iterable[PolicyRuns], scene: Mapping[str, object] | None = None) -> list[dict[str, object]]:
    """A row a run: `scene`, what its runs have in common, then policy, seed and figures; None where there is none."""
    return [
        {**(scene or {}), "policy": result.name, "seed": run.seed, **_figures(run.summary)}
        for result in results
        for run in result.runs
    ]


def compared_sheet(results: Iterable[PolicyRuns], held: Sequence[Held]) -> list[dict[str, object]]:
    """The same of a comparison, with the runs of each condition under which it was made again, "" for none."""
    if not held:
        return sheet(results)
    again = [row for one in held for row in sheet(one.results, {"condition": one.condition.label})]
    return sheet(results, {"condition": ""}) + again


def swept_sheet(found: Iterable[Swept]) -> list[dict[str, object]]:
    """The same of sweeps, the scene, load and rate in front."""
    return [
        row
        for swept in found
        for runs in swept.tried.values()
        for load, result in sorted(runs.items())
        for row in sheet([result], {"scene": swept.scene.label, "load": load, "rate_rps": load * swept.scene.unit_rps})
    ]


def as_csv(rows: Iterable[Mapping[str, object]]) -> str:
    """The rows under one line of names. All have the same names."""
    out, rows = StringIO(), list(rows)
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _figures(summary: Summary) -> dict[str, object]:
    figures: dict[str, object] = msgspec.to_builtins(summary)
    by_length = [*summary.slowdown_by_length, *[None] * LENGTHS][:LENGTHS]
    del figures["name"], figures[_BY_LENGTH]
    return figures | {f"{_BY_LENGTH}_{place}": value for place, value in enumerate(by_length, 1)}
