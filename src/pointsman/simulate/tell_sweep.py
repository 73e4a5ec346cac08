"""What is told of a sweep: for every scene the rates policies can take, and two figures against load."""

from collections.abc import Sequence
from typing import Any

import msgspec
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pointsman.config.sim_load import trace_runs
from pointsman.config.sweep import SweepConfig
from pointsman.observe.columns import TIE, Cell, Column, Row, cell
from pointsman.observe.table import BEST
from pointsman.sim.statistics import LEVEL
from pointsman.simulate.standing import IN_SLO, TTFT_P99, winners_of
from pointsman.simulate.sweep import REFERENCE, TARGETS, Capacity, Scene, Swept
from pointsman.simulate.tell import TITLE, intervals
from pointsman.simulate.verdict import swept_verdict

BOUNDS = {"": "", "below": "< ", "above": "> "}


def tell_sweep(found: Sequence[Swept], config: SweepConfig, out: Console) -> None:
    """Print the tables of every scene, and how to read them."""
    out.print(TITLE)
    for swept in found:
        heading = swept.scene.label or "Highest rate inside the SLO"
        out.print("", Text(heading, style="bold"), _capacity_table(swept), sep="\n")
        for column, what in ((IN_SLO, "Requests inside the SLO, %, by load"), (TTFT_P99, "TTFT P99, s, by load")):
            out.print("", what, _by_load(swept, column), sep="\n")
        out.print("", *swept_verdict(swept), sep="\n", markup=False, highlight=False)
    out.print("", *notes(found, config), sep="\n", style="dim", markup=False, highlight=False)


def notes(found: Sequence[Swept], config: SweepConfig) -> list[str]:
    """What was swept, as finished sentences."""
    return [
        *(load_is(swept.scene) for swept in found),
        f"SLO: TTFT ≤ {config.slo_ttft_s:g} s and TPOT ≤ {1000 * config.slo_tpot_s:g} ms. Highest rate: followed "
        "upwards to the first load that misses the target; a straight line between the two loads tried around it.",
        f"{config.seeds} seed{'s' * (config.seeds > 1)} from {config.seed}, {config.seconds:g} s each at most, "
        f"measured after {config.warm_up:.0%}; "
        f"±: half the {LEVEL:.0%} interval over seeds, where every seed crosses inside the loads tried.",
    ]


def load_is(scene: Scene) -> str:
    """What load 1 is, as a sentence."""
    what = "the trace's own pace" if trace_runs(scene.config) else f"what {REFERENCE} serves under overload"
    return f"{scene.label or 'Load'}{': load' if scene.label else ''} 1 is {what}, {scene.unit_rps:.2f} requests/s."


def swept_json(found: Sequence[Swept], config: SweepConfig) -> dict[str, Any]:
    """Plain values: `scenes`, each with its highest rates and, by load, every policy's mean, intervals and seeds."""
    return {"scenes": [_scene_json(swept) for swept in found], "settings": msgspec.to_builtins(config)}


def _scene_json(swept: Swept) -> dict[str, Any]:
    return {
        "label": swept.scene.label,
        "load_1_is_rps": swept.scene.unit_rps,
        "verdict": swept_verdict(swept),
        "highest_rates": [msgspec.to_builtins(one) for one in swept.capacities],
        "policies": [
            {
                "name": name,
                "loads": [
                    {
                        "load": load,
                        "rate_rps": load * swept.scene.unit_rps,
                        **msgspec.to_builtins(result.mean()),
                        "intervals": intervals(result),
                        "seeds": [
                            {"seed": run.seed, "figures": msgspec.to_builtins(run.summary)} for run in result.runs
                        ],
                    }
                    for load, result in sorted(runs.items())
                ],
            }
            for name, runs in swept.tried.items()
        ],
    }


def capacity_headings() -> tuple[tuple[str, str], ...]:
    """Of two columns a target: the rate, and at which load that is."""
    return tuple(pair for target in TARGETS for pair in ((f"{target:.0%} inside", "/s ↑"), ("at", "load")))


def capacity_rows(swept: Swept) -> list[Row]:
    """A row a policy: its highest rate for each target, the highest of all marked."""
    return [
        Row(name, tuple(cell for target in TARGETS for cell in _capacity_cells(swept, name, target)))
        for name in swept.scene.config.policies
    ]


def _capacity_cells(swept: Swept, name: str, target: float) -> tuple[Cell, Cell]:
    every = [one for one in swept.capacities if one.target == target]
    own = next(one for one in every if one.policy == name)
    span = f"±{(own.interval.high - own.interval.low) / 2:.2f}" if own.interval else ""
    rate = Cell(f"{BOUNDS[own.bound]}{own.rate_rps:.2f}", name in leaders(every), span)
    return rate, Cell(f"{own.load:.2f}")


def _capacity_table(swept: Swept) -> Table:
    table = _table()
    for heading in capacity_headings():
        table.add_column("\n".join(heading), justify="right")
    for row in capacity_rows(swept):
        table.add_row(row.name, *(_shown(cell) for cell in row.cells))
    return table


def _shown(cell: Cell) -> Text:
    text = Text(cell.text, style=BEST if cell.best else "")
    return Text.assemble(text, (f" {cell.span}", "dim")) if cell.span else text


def leaders(capacities: Sequence[Capacity]) -> frozenset[str]:
    """Whose highest rate is the highest, or within the tie; nobody where all are, or none reached what was tried."""
    reached = {one.policy: one.rate_rps for one in capacities if one.bound != "below"}
    names = frozenset(name for name, rate in reached.items() if rate >= max(reached.values()) * (1 - TIE))
    return frozenset() if len(names) == len(capacities) else names


def _by_load(swept: Swept, column: Column) -> Table:
    table = _table()
    for point in swept.points:
        table.add_column(f"{point.load:g}", justify="right")
    winners = [winners_of(point.results, column) for point in swept.points]
    for place, name in enumerate(swept.scene.config.policies):
        cells = (
            Text(cell(point.results[place].mean(), column), style=BEST if name in names else "")
            for point, names in zip(swept.points, winners, strict=True)
        )
        table.add_row(name, *cells)
    return table


def _table() -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    table.add_column("policy", no_wrap=True)
    return table
