"""What is told of a plan: tables and sentences for people, one JSON document for programs."""

from collections.abc import Sequence
from typing import Any

import msgspec
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from pointsman.chains.bounds import Bounds
from pointsman.chains.model import Chain, Stage, number_of_jobs
from pointsman.chains.planner import Layout, Plan
from pointsman.chains.study import AtLoad, Mean
from pointsman.config.plan import ChainsConfig, rate_of


def tell(config: ChainsConfig, plan: Plan, studied: Sequence[AtLoad], out: Console) -> None:
    """Print where blocks lie, the chains, what they promise, and what was simulated."""
    best = plan.best
    out.print(_stage_table(best), "", _chain_table(best), "", sep="\n")
    out.print(*_notes(config, plan), sep="\n", style="dim", markup=False, highlight=False)
    if studied:
        out.print("", _study_table(studied), "", sep="\n")
        out.print(*_conditions(config, studied), sep="\n", style="dim", markup=False, highlight=False)


def as_json(config: ChainsConfig, plan: Plan, studied: Sequence[AtLoad]) -> dict[str, Any]:
    """Plain values: the plan, what was tried for other numbers of jobs, what was simulated, and the settings."""
    best = plan.best
    return {
        **_figures(best),
        "stages": [_stage(stage) for stage in best.stages],
        "chains": [_chain(chain) for chain in best.chains],
        "tried": [_figures(layout) for layout in plan.tried],
        "simulated": msgspec.to_builtins(studied),
        "settings": msgspec.to_builtins(config),
    }


def _figures(layout: Layout) -> dict[str, Any]:
    return {
        "reserved": layout.reserved,
        "whole_models": layout.whole_models,
        "capacity_jobs": sum(chain.capacity for chain in layout.chains),
        "capacity_rate": layout.rate,
        "response": msgspec.to_builtins(layout.response),
    }


def _stage(stage: Stage) -> dict[str, Any]:
    return {"server": stage.server.name, "first": stage.first, "last": stage.end - 1}


def _chain(chain: Chain) -> dict[str, Any]:
    through = [
        {"server": stage.server.name, "blocks": taken} for stage, taken in zip(chain.stages, chain.taken, strict=True)
    ]
    return {"capacity": chain.capacity, "seconds": chain.seconds, "through": through}


def _stage_table(layout: Layout) -> Table:
    table = _table("server", "blocks", "GB")
    for stage in layout.stages:
        table.add_row(stage.server.name, f"{stage.first}–{stage.end - 1}", f"{stage.server.memory_gb:g}")
    return table


def _chain_table(layout: Layout) -> Table:
    table = _table("chain, with the blocks processed by each server", "jobs at once", "s per job", "jobs/s")
    for chain in layout.chains:
        through = " → ".join(
            f"{stage.server.name} ({taken})" for stage, taken in zip(chain.stages, chain.taken, strict=True)
        )
        table.add_row(through, str(chain.capacity), f"{chain.seconds:.2f}", f"{chain.rate:.3f}")
    return table


def _notes(config: ChainsConfig, plan: Plan) -> list[str]:
    best, rate = plan.best, rate_of(config)
    used, given = len(best.stages), sum(kind.count for kind in config.server)
    jobs = sum(chain.capacity for chain in best.chains)
    notes = [
        f"{used} of {given} servers hold blocks, with cache for {number_of_jobs(best.reserved)} beside each block.",
        f"All chains serve {number_of_jobs(jobs)} at once and {best.rate:.4g} a second: "
        f"{rate:.4g} a second load them to {rate / best.rate:.0%}.",
        f"Sent to the fastest free chain (policy fastest_free), a job takes {_between(best.response)} on average.",
    ]
    if best.whole_models:
        notes.append("Every chain is one server with all blocks: at this rate splitting the model gains nothing.")
    if len(plan.tried) > 1:
        notes.append(f"{len(plan.tried)} numbers of jobs were tried; this one has the least lower bound.")
    return notes


def _between(response: Bounds | None) -> str:
    return "forever" if response is None else f"{response.lower_s:.2f} to {response.upper_s:.2f} s"


def _study_table(studied: Sequence[AtLoad]) -> Table:
    table = _table("mean response, s", *(f"at {each.load:.0%}" for each in studied))
    for number, mean in enumerate(studied[0].means):
        table.add_row(mean.policy, *(_mean(each.means[number]) for each in studied))
    if all(each.bounds for each in studied):
        table.add_section()
        bounds = [each.bounds for each in studied if each.bounds]
        table.add_row("bound: at least", *(f"{each.lower_s:.2f}" for each in bounds))
        table.add_row("bound: at most", *(f"{each.upper_s:.2f}" for each in bounds))
    return table


def _mean(mean: Mean) -> str:
    width = "" if mean.half_width_s is None else f"±{mean.half_width_s:.2g}"
    return f"{mean.mean_s:.2f}{width}"


def _conditions(config: ChainsConfig, studied: Sequence[AtLoad]) -> list[str]:
    notes = [
        f"Simulated: Poisson arrivals, exponential sizes, {config.run_length} jobs a run, the first tenth not "
        f"measured; {config.seeds} seed{'s' * (config.seeds > 1)} from {config.seed}, ± half a 95 % interval.",
    ]
    if not config.slowdown:
        notes.append("The bounds are those of fastest_free (theorem 4 of its authors).")
    if any(each.load >= 1.0 for each in studied):
        notes.append("From 100% on queues grow without end: such means grow with the length of the run.")
    if config.slowdown:
        notes.append(f"A job takes {config.slowdown:.0%} longer for each job beside it; the bounds do not hold then.")
    return notes


def _table(name: str, *figures: str) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    table.add_column(name)
    for heading in figures:
        table.add_column(heading, justify="right")
    return table
