"""Engines short of KV memory over HTTP, beside the same scene simulated: preemptions, goodput, P99 of TTFT and TPOT.

It is the scene `memory-tight` of `pointsman demo`, once for each seed. The simulator gets the very dialogues at the
same moments, nodes of the same size and the same settings of the gateway. A policy takes up to a minute a seed.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import uvloop
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.policies.registry import build
from pointsman.config.demo import DemoConfig
from pointsman.config.sim import SimConfig
from pointsman.demo.plan import planned as planned_demo
from pointsman.demo.run import compare
from pointsman.demo.scene import MEMORY_TIGHT, TIGHT_ENGINE
from pointsman.sim.experiment import run
from pointsman.sim.fleet import NodeKind
from pointsman.sim.statistics import bootstrap
from pointsman.simulate.plan import planned

FIGURES = ("preemptions", "goodput_rps", "in_slo", "ttft_p99_s", "tpot_p99_s", "hit_ratio")
OF_ENGINES = ("profile", "gpu", "tp", "kv_blocks", "max_num_seqs", "max_num_batched_tokens", "max_model_len")

Row = dict[str, Any]
"""A policy's run: `where`, `policy`, `seed` and the FIGURES."""


def main() -> int:
    options = arguments()
    err = Console(stderr=True)
    rows: list[Row] = []
    for seed in range(options.seed, options.seed + options.seeds):
        err.print(f"seed {seed}: {options.policies}, over HTTP and simulated", highlight=False)
        rows += measured(options, seed)
    if options.json:
        print(json.dumps(rows, indent=2))
    else:
        tell(rows, options.policies.split(","))
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench tight", description=__doc__)
    usual = "least_requests,greedy"
    parser.add_argument("--policies", default=usual, help=f"the first is what others are told by (default: {usual})")
    parser.add_argument("--seed", type=int, default=1, help="the first seed (default: 1)")
    parser.add_argument("--seeds", type=int, default=3, help="how many of them (default: 3)")
    parser.add_argument("--seconds", type=float, help="wall seconds of load per policy (default: those of the scene)")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else on stdout")
    return parser.parse_args()


def measured(options: argparse.Namespace, seed: int) -> list[Row]:
    """Every policy on the dialogues of one seed, over HTTP and simulated."""
    policies = tuple(options.policies.split(","))
    config = DemoConfig(scene="memory-tight", policies=policies, seed=seed, seconds=options.seconds)
    plan, saturation = planned_demo(config, None)
    with tempfile.TemporaryDirectory() as folder:
        rounds = uvloop.run(compare(plan, policies, Path(folder), lambda *_: None))
    same = planned(simulated_scene(seed, MEMORY_TIGHT.load * saturation, plan.seconds))
    over_http = [row("http", one.figures, seed) | {"late_p99_s": one.lateness_p99_s} for one in rounds]
    return over_http + [simulated(name, same, seed) for name in policies]


def simulated_scene(seed: int, requests_per_second: float, seconds: float) -> SimConfig:
    """The demonstration's scene as settings of a simulation; `seconds` are the engines'."""
    engine = {name: getattr(TIGHT_ENGINE, name) for name in OF_ENGINES}
    return SimConfig(
        node=(NodeKind(name="tight", count=len(MEMORY_TIGHT.nodes), **engine),),
        workload=MEMORY_TIGHT.clients.name,
        rate=requests_per_second,
        seconds=seconds,
        warm_up=MEMORY_TIGHT.warm_up,
        seed=seed,
        brain=BrainSettings(**MEMORY_TIGHT.brain, slow_start_s=0.0),
    )


def simulated(name: str, plan: Any, seed: int) -> Row:
    return row("simulated", run(plan.experiment(build(name), 0), lambda _second: None).summary, seed) | {"policy": name}


def row(where: str, figures: Any, seed: int) -> Row:
    return {"where": where, "policy": figures.name, "seed": seed} | {name: getattr(figures, name) for name in FIGURES}


def tell(rows: Sequence[Row], policies: Sequence[str]) -> None:
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for heading in ("where", "policy", *FIGURES):
        table.add_column(heading, justify="left" if heading in ("where", "policy") else "right")
    for where in ("http", "simulated"):
        for policy in policies:
            runs = runs_of(rows, where, policy)
            table.add_row(where, policy, *(spanned([one[name] for one in runs]) for name in FIGURES))
    out = Console(width=150)
    out.print(table)
    for where in ("http", "simulated"):
        for policy in policies[1:]:
            told = "; ".join(ratio(rows, where, policy, policies[0], name) for name in ("preemptions", "goodput_rps"))
            out.print(f"{where}: {policy} over {policies[0]}: {told}", highlight=False)
    out.print("Means over the seeds [95 % interval]; seconds are the engines' own.", style="dim", highlight=False)


def runs_of(rows: Sequence[Row], where: str, policy: str) -> list[Row]:
    """One a seed, in order."""
    return [one for one in rows if (one["where"], one["policy"]) == (where, policy)]


def spanned(values: Sequence[float]) -> str:
    """The mean with its interval."""
    interval = bootstrap(values)
    mean = f"{sum(values) / len(values):.3g}"
    return f"{mean} [{interval.low:.3g}, {interval.high:.3g}]" if interval else mean


def ratio(rows: Sequence[Row], where: str, policy: str, over: str, figure: str) -> str:
    """Of the means; with the least and the greatest of any one seed."""
    ours, theirs = ([one[figure] for one in runs_of(rows, where, name)] for name in (policy, over))
    each = sorted(mine / other for mine, other in zip(ours, theirs, strict=True) if other)
    whole = sum(ours) / sum(theirs) if sum(theirs) else float("nan")
    return f"{figure} × {whole:.2f}" + (f" ({each[0]:.2f} to {each[-1]:.2f} by seed)" if each else "")


if __name__ == "__main__":
    sys.exit(main())
