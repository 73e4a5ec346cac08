"""What is told of runs: a table and sentences for people, one JSON document for programs."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from pointsman.config.sim import SimConfig
from pointsman.observe.columns import ARROWS, TIE
from pointsman.observe.table import comparison_table
from pointsman.sim.clients import plain_share
from pointsman.sim.incidents import told
from pointsman.sim.statistics import LEVEL, bootstrap
from pointsman.sim.summary import NodeFigures, Summary
from pointsman.simulate.client_table import client_table
from pointsman.simulate.plan import Plan
from pointsman.simulate.standing import FEW, PolicyRuns, standing
from pointsman.simulate.verdict import verdict

TITLE = "Simulated: nothing here was measured on a machine"


def tell(results: Sequence[PolicyRuns], plan: Plan, out: Console) -> None:
    """Print the table, the nodes where there is one run only, the verdict, and what was simulated.

    Bold needs a terminal.
    """
    out.print(comparison_table(standing(results, FEW), title=TITLE, caption=_caption(results, out), columns=FEW))
    if len(results) == len(results[0].runs) == 1:
        out.print("", _node_table(results[0].runs[0].nodes), sep="\n")
    clients = client_table(results)
    if clients is not None:
        out.print("", clients, sep="\n")
    if len(results) > 1:
        out.print("", *verdict(results), sep="\n", markup=False, highlight=False)
    out.print("", *notes(plan), sep="\n", style="dim", markup=False, highlight=False)


def _caption(results: Sequence[PolicyRuns], out: Console) -> str:
    """How to read the table. In a pipe, no cell can be bold, so none is said to be."""
    repeated = len(results[0].runs) > 1
    bold = len(results) > 1 and out.is_terminal and out.color_system is not None
    marks = f"Bold: the best of its column, and what ties with it: {ties(repeated)}."
    spans = f"±: half the {LEVEL:.0%} interval of the mean."
    return " ".join((ARROWS, *([spans] if repeated else []), *([marks] if bold else [])))


def ties(repeated: bool) -> str:
    """What a tie is, in words."""
    near = f"within {TIE:.0%} of it"
    return f"{near}, or with a difference, seed by seed, that may be none" if repeated else near


def notes(plan: Plan) -> list[str]:
    """What was simulated, as finished sentences."""
    config = plan.config
    runs = "1 seed" if config.seeds == 1 else f"mean of {config.seeds} seeds"
    return [
        f"Fleet: {', '.join(node.name for node in plan.nodes)}.",
        f"Load: {plan.demands[0].description}; {plan.seconds:g} s, measured after {config.warm_up:.0%}; {runs} "
        f"from {config.seed}; {plain_share(plan.demands[0], config.plain):.0%} plain.",
        *(told(one) for one in plan.incidents.all()),
        *_clients_and_gateways(config),
        f"SLO: TTFT ≤ {config.slo_ttft_s:g} s and TPOT ≤ {1000 * config.slo_tpot_s:g} ms.",
        f"The gateway hears of tokens {config.feedback_delay_s:g} s and of probes {config.report_delay_s:g} s late.",
        *([RESIDENCY[config.residency]] if config.residency in RESIDENCY else []),
        *([MOVED.format(config.jitter_s)] if config.jitter_s else []),
        *([SAME] if config.seeds > 1 and plan.demands[0] is plan.demands[1] else []),
        *(f"{note}." for note in plan.demands[0].notes),
    ]


RESIDENCY = {
    "commanded": "Nodes evict what the gateway tells them to.",
    "reported": "Nodes report what they have cached.",
}
MOVED = "Each seed moves dialogues by up to {:g} s: the intervals show what hangs on exact moments and on draws."
SAME = "All seeds send the same requests: the intervals show what the policies' own draws change, and no more."


def _clients_and_gateways(config: SimConfig) -> Iterable[str]:
    """Where they are other than usual."""
    if config.leaving:
        yield f"{config.leaving:.0%} of clients leave after {config.leaving_after_s:g} s on average, if not answered."
    if config.gateways > 1:
        how = "by session" if config.spread == "by_session" else "in turn"
        heard = f"every {config.sharing_s:g} s" if config.sharing_s else "never"
        yield f"{config.gateways} gateways get the requests {how} and hear of each other {heard}."
    if config.residency == "reported":
        lost = f", {config.event_loss:.0%} of them lost" if config.event_loss else ""
        yield f"Nodes report their caches; the events are known {config.event_delay_s:g} s late{lost}."


def as_json(results: Sequence[PolicyRuns], plan: Plan) -> dict[str, Any]:
    """Plain values: `policies`, each with the mean over its seeds, its intervals and every seed's own figures.

    `intervals`: [low, high] of each mean that has one. Besides, the conditions.
    """
    return {
        "policies": [
            {
                **msgspec.to_builtins(result.mean()),
                "intervals": intervals(result),
                "seeds": [
                    {
                        "seed": run.seed,
                        "figures": msgspec.to_builtins(run.summary),
                        "nodes": msgspec.to_builtins(run.nodes),
                        "clients": msgspec.to_builtins(run.clients),
                    }
                    for run in result.runs
                ],
            }
            for result in results
        ],
        "verdict": verdict(results),
        "workload": plan.demands[0].description,
        "seconds": plan.seconds,
        "notes": list(plan.demands[0].notes),
        "fleet": [node.name for node in plan.nodes],
        "settings": msgspec.to_builtins(plan.config),
    }


def intervals(result: PolicyRuns) -> dict[str, list[float]]:
    """Of each figure that all seeds have, by its name."""
    found = {}
    for field in Summary.__struct_fields__:
        values = [getattr(run.summary, field) for run in result.runs]
        span = bootstrap(values) if all(isinstance(value, int | float) for value in values) else None
        if span is not None:
            found[field] = [span.low, span.high]
    return found


def _node_table(nodes: Sequence[NodeFigures]) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("node")
    for heading in ("requests", "hits %", "tokens made", "preemptions", "evictions", "busy %"):
        table.add_column(heading, justify="right")
    for node in nodes:
        hits = "–" if node.hit_ratio is None else f"{100 * node.hit_ratio:.0f}"
        table.add_row(
            node.name,
            str(node.requests),
            hits,
            str(node.generated_tokens),
            str(node.preemptions),
            str(node.evictions),
            f"{100 * node.busy:.0f}",
        )
    return table
