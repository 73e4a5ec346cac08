"""Simulated requests a minute on one core: policy x nodes, on the Mooncake conversation trace, and where time goes.

The trace is repeated to as many requests as are asked for, at 0.7 of the rate that the fleet could serve; its shared
prefixes are those of the trace's ids, for the gateway's index and for the engines' caches. Timed is a whole run: the
clients' requests, the gateway's decisions, the engines and the summary. Reading the trace and planning come before.
"""

import argparse
import cProfile
import json
import pstats
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import msgspec

from pointsman.brain.policies.registry import build
from pointsman.engine.virtual import Sample
from pointsman.sim.demand import Demand, trace_demand
from pointsman.sim.experiment import Experiment, Run, run
from pointsman.sim.fleet import Node, nodes_of
from pointsman.sim.presets import FLEETS
from pointsman.sim.saturation import fleet_saturation
from pointsman.workload.blocks import fitted, trace_blocks
from pointsman.workload.rows import Trace
from pointsman.workload.traces import at_rate, leading, read_trace, repeated

TRACE = Path("../shared/traces/mooncake_conversation_trace.jsonl")
SAMPLE = 1500
"""Requests of the trace on which the fleet's capacity is measured."""
PROFILED = 5000
PARTS = {
    "engine": ("/engine/",),
    "brain": ("/brain/",),
    "gateway, nodes, loop": ("/sim/gateway.py", "/sim/cluster.py", "/sim/node.py", "/sim/process.py", "/sim/loop.py"),
    "clients, workload": ("/sim/clients.py", "/sim/demand.py", "/sim/exchange.py", "/workload/"),
    "summary": ("/sim/summary.py", "/sim/recorded.py", "/sim/occupancy.py", "/observe/"),
}


def main() -> int:
    arguments = _arguments()
    if not TRACE.exists():
        print(f"scripts/bench sim: {TRACE} is not there", file=sys.stderr)
        return 2
    with TRACE.open() as lines:
        trace = read_trace(lines, TRACE.name)
    rows = []
    for nodes in arguments.nodes:
        bench = Bench(trace, nodes, arguments.load)
        for policy in arguments.policies:
            print(f"{policy} on {nodes} nodes: {arguments.requests:,} requests", file=sys.stderr)
            rows.append(bench.row(policy, arguments.requests, exact=arguments.exact))
    print(json.dumps(rows, indent=1)) if arguments.json else _print(rows)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench sim", description=__doc__)
    numbers: Callable[[str], tuple[int, ...]] = lambda text: tuple(int(part) for part in text.split(","))  # noqa: E731
    names: Callable[[str], list[str]] = lambda text: text.split(",")  # noqa: E731
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--requests", type=int, default=200_000, metavar="N", help="default: 200000")
    parser.add_argument("--nodes", type=numbers, default=(8, 64), metavar="N,M", help="default: 8,64")
    parser.add_argument("--policies", type=names, default=["round_robin", "fastest_completion"], metavar="A,B")
    parser.add_argument("--load", type=float, default=0.7, help="share of the fleet's capacity (default: 0.7)")
    parser.add_argument("--exact", action="store_true", help="let engines take step after step")
    return parser.parse_args()


class Bench:
    """A fleet of so many nodes and the trace at a rate that suits it."""

    def __init__(self, trace: Trace, nodes: int, load: float) -> None:
        (kind,) = FLEETS["8x8xa100"]
        self.nodes: tuple[Node, ...] = nodes_of([msgspec.structs.replace(kind, count=nodes)])
        self.trace = trace
        self.most = self.nodes[0].most_tokens
        self.rate = load * fleet_saturation([node.profile for node in self.nodes], self._samples())

    def row(self, policy: str, requests: int, *, exact: bool) -> dict[str, Any]:
        """What `requests` requests take under `policy`, and the shares of it found on a shorter, profiled run."""
        experiment = self._experiment(policy, requests, exact=exact)
        began, burnt = perf_counter(), process_time()
        result = run(experiment, lambda _: None)
        wall, cpu = perf_counter() - began, process_time() - burnt
        return {
            "policy": policy,
            "nodes": len(self.nodes),
            "requests": len(result.records),
            "exact": exact,
            "rate_rps": round(self.rate, 2),
            "requests_per_minute": round(60 * len(result.records) / cpu),
            "us_per_request": round(1e6 * cpu / len(result.records), 1),
            "wall_s": round(wall, 2),
            "cpu_s": round(cpu, 2),
            **_achieved(result),
            "shares": self._shares(self._experiment(policy, min(requests, PROFILED), exact=exact)),
        }

    def _samples(self) -> list[Sample]:
        size = self.nodes[0].block_tokens
        rows = [fitted(row, self.most) for row in self.trace.rows[:SAMPLE]]
        return [
            Sample(row.prompt_tokens, row.output_tokens, trace_blocks(row, number, size))
            for number, row in enumerate(rows)
        ]

    def _experiment(self, policy: str, requests: int, *, exact: bool) -> Experiment:
        demand, seconds = self._demand(requests)
        return Experiment(nodes=self.nodes, demand=demand, policy=build(policy), seconds=seconds, exact=exact)

    def _demand(self, requests: int) -> tuple[Demand, float]:
        laps = repeated(self.trace, -(-requests // len(self.trace.rows)))
        trace = at_rate(leading(laps, requests), self.rate)
        return trace_demand(trace, trace.seconds + 1.0, self.most), trace.seconds + 1.0

    def _shares(self, experiment: Experiment) -> dict[str, float]:
        profile = cProfile.Profile()
        profile.runcall(run, experiment, lambda _: None)
        return shares(pstats.Stats(profile))


def shares(stats: pstats.Stats) -> dict[str, float]:
    """Of the time of a profiled run, the share of each part; built-in functions count for whoever called them."""
    spent = dict.fromkeys([*PARTS, "rest"], 0.0)
    for (file, _, _), (_, _, own, _, callers) in stats.stats.items():  # type: ignore[attr-defined]
        if file == "~":
            for (caller, _, _), (*_, inside, _) in callers.items():
                spent[_part(caller)] += inside
        else:
            spent[_part(file)] += own
    total = sum(spent.values())
    return {part: round(seconds / total, 3) for part, seconds in spent.items()}


def _part(file: str) -> str:
    return next((part for part, places in PARTS.items() if any(place in file for place in places)), "rest")


def _achieved(result: Run) -> dict[str, Any]:
    """So that a faster run that is no longer the same is noticed."""
    summary = result.summary
    return {name: getattr(summary, name) for name in ("hit_ratio", "ttft_p50_s", "ttft_p99_s", "preemptions")}


def _print(rows: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="simulated requests on one core")
    for name in ("policy", "nodes", "requests", "a minute", "µs each", *PARTS, "rest"):
        table.add_column(name, justify="left" if name == "policy" else "right")
    for row in rows:
        table.add_row(
            row["policy"],
            str(row["nodes"]),
            f"{row['requests']:,}",
            f"{row['requests_per_minute']:,}",
            f"{row['us_per_request']:.1f}",
            *(f"{share:.0%}" for share in row["shares"].values()),
        )
    Console(width=max(120, Console().width)).print(table)


if __name__ == "__main__":
    sys.exit(main())
