"""What is told of runs: a table and sentences for people, one JSON document for programs."""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import msgspec
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from pointsman.observe.columns import ARROWS, SUCCESS, Column
from pointsman.observe.comparison import Figures
from pointsman.observe.table import MARKS, comparison_table
from pointsman.sim.experiment import Run
from pointsman.sim.summary import NodeFigures, mean_of
from pointsman.simulate.plan import Plan


def _figure(field: str, scale: float = 1.0) -> Callable[[Figures], float | None]:
    """Reads a field of a `Summary`, in other units perhaps."""
    read = attrgetter(field)

    def figure(row: Figures) -> float | None:
        value = read(row)
        return None if value is None else scale * value

    return figure


COLUMNS = (
    SUCCESS,
    Column(("good-", "put"), "/s", _figure("goodput_rps"), ".2f", "higher"),
    Column(("TTFT", "P50"), "s", _figure("ttft_p50_s"), ".2f", "lower"),
    Column(("TTFT", "P99"), "s", _figure("ttft_p99_s"), ".2f", "lower"),
    Column(("TPOT", "P99"), "ms", _figure("tpot_p99_s", 1000), ".0f", "lower"),
    Column(("E2E", "P50"), "s", _figure("e2e_p50_s"), ".1f", "lower"),
    Column(("E2E", "P99"), "s", _figure("e2e_p99_s"), ".0f", "lower"),
    Column(("hits", ""), "%", _figure("hit_ratio", 100), ".0f", "higher"),
    Column(("busy", ""), "%", _figure("busy", 100), ".0f"),
)


class PolicyRuns(msgspec.Struct, frozen=True):
    """The runs of one policy, one a seed."""

    name: str
    runs: tuple[Run, ...]


def tell(results: Sequence[PolicyRuns], plan: Plan, out: Console) -> None:
    """Print the table, the nodes where there is one run only, and what was simulated. Bold needs a terminal."""
    rows = [mean_of([run.summary for run in result.runs]) for result in results]
    marks = MARKS if len(rows) > 1 and out.is_terminal and out.color_system else ""
    title = "Simulated: nothing here was measured on a machine"
    out.print(comparison_table(rows, title=title, caption=f"{ARROWS} {marks}".strip(), columns=COLUMNS))
    if len(results) == len(results[0].runs) == 1:
        out.print("", _node_table(results[0].runs[0].nodes), sep="\n")
    out.print("", *notes(plan), sep="\n", style="dim", markup=False, highlight=False)


def notes(plan: Plan) -> list[str]:
    """What was simulated, as finished sentences."""
    config = plan.config
    runs = "1 seed" if config.seeds == 1 else f"mean of {config.seeds} seeds"
    return [
        f"Fleet: {', '.join(node.name for node in plan.nodes)}.",
        f"Load: {plan.demands[0].description}; {plan.seconds:g} s, measured after {config.warm_up:.0%}; {runs} "
        f"from {config.seed}; {config.plain:.0%} plain.",
        *(
            f"{one.node} is {one.factor:g} times slower from {one.begins_s:g} s to {one.ends_s:g} s."
            for one in config.slowdown
        ),
        f"SLO: TTFT ≤ {config.slo_ttft_s:g} s and TPOT ≤ {1000 * config.slo_tpot_s:g} ms.",
        f"The gateway hears of tokens {config.feedback_delay_s:g} s and of probes {config.report_delay_s:g} s late.",
        *(f"{note}." for note in plan.demands[0].notes),
    ]


def as_json(results: Sequence[PolicyRuns], plan: Plan) -> dict[str, Any]:
    """Plain values: `policies`, each with the mean over its seeds and every seed's own figures; the conditions."""
    config = plan.config
    return {
        "policies": [
            {
                **msgspec.to_builtins(mean_of([run.summary for run in result.runs])),
                "seeds": [
                    {
                        "seed": config.seed + number,
                        "figures": msgspec.to_builtins(run.summary),
                        "nodes": msgspec.to_builtins(run.nodes),
                    }
                    for number, run in enumerate(result.runs)
                ],
            }
            for result in results
        ],
        "workload": plan.demands[0].description,
        "seconds": plan.seconds,
        "notes": list(plan.demands[0].notes),
        "fleet": [node.name for node in plan.nodes],
        "settings": msgspec.to_builtins(config),
    }


def _node_table(nodes: Sequence[NodeFigures]) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("node")
    for heading in ("requests", "hits %", "tokens made", "preemptions", "busy %"):
        table.add_column(heading, justify="right")
    for node in nodes:
        hits = "–" if node.hit_ratio is None else f"{100 * node.hit_ratio:.0f}"
        table.add_row(
            node.name,
            str(node.requests),
            hits,
            str(node.generated_tokens),
            str(node.preemptions),
            f"{100 * node.busy:.0f}",
        )
    return table
