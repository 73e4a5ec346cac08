"""Simulated requests a minute on one core: policy x nodes, on the Mooncake conversation trace, and where time goes.

The trace is repeated to as many requests as are asked for, at 0.7 of the rate that the fleet could serve; its shared
prefixes are those of the trace's ids, for the gateway's index and for the engines' caches. Timed is a whole run: the
clients' requests, the gateway's decisions, the engines and the summary. Reading the trace and planning come before.
What stands in src/ is run interpreted; `scripts/compiled python scripts/bench.d/sim.py` runs what users get.
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import msgspec

from pointsman.brain.policies.registry import build
from pointsman.engine.virtual import Sample
from pointsman.sim.demand import Demand, trace_demand
from pointsman.sim.experiment import Experiment, Run, Stage, run
from pointsman.sim.fleet import Node, nodes_of
from pointsman.sim.presets import FLEETS
from pointsman.sim.saturation import fleet_saturation
from pointsman.workload.blocks import fitted, trace_blocks
from pointsman.workload.rows import Trace
from pointsman.workload.traces import at_rate, leading, read_trace, repeated

TRACE = Path("../shared/traces/mooncake_conversation_trace.jsonl")
SAMPLE = 1500
"""Requests of the trace on which the fleet's capacity is measured."""
WATCHED = 10_000
"""Requests of the shorter run in which time is entered by part."""
PARTS = ("brain", "engines", "summary", "rest")
"""Of a run's time: the dispatcher's calls, the engines', the figures afterwards, and clients, gateway and clock."""


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
        """What `requests` requests take under `policy`, and the parts of it, from a shorter run."""
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
            "shares": shares(self._experiment(policy, min(requests, WATCHED), exact=exact)),
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


def shares(experiment: Experiment) -> dict[str, float]:
    """Of the time of a run, the share of each part, by stopwatches around the calls of dispatchers and engines."""
    stage = Stage(experiment, lambda _: None, None)
    brain, engines = Stopwatch(), Stopwatch()
    for gateway in stage.cluster.gateways:
        gateway.dispatcher = Timed(gateway.dispatcher, brain)  # type: ignore[assignment]
    for node in stage.cluster.nodes.values():
        node._process = Timed(node._process, engines)  # type: ignore[assignment]
    began = perf_counter()
    stage.run()
    ran = perf_counter()
    stage._result()
    summary, total = perf_counter() - ran, ran - began
    rest = total - brain.seconds - engines.seconds - summary
    parts = zip(PARTS, (brain.seconds, engines.seconds, summary, rest), strict=True)
    return {part: round(seconds / total, 3) for part, seconds in parts}


class Stopwatch:
    """Seconds added up."""

    def __init__(self) -> None:
        self.seconds = 0.0


class Timed:
    """Stands for `target`, and enters the time of its calls."""

    def __init__(self, target: Any, watch: Stopwatch) -> None:
        self._target = target
        self._watch = watch

    def __getattr__(self, name: str) -> Any:
        call, watch = getattr(self._target, name), self._watch

        def timed(*arguments: Any) -> Any:
            began = perf_counter()
            answer = call(*arguments)
            watch.seconds += perf_counter() - began
            return answer

        self.__dict__[name] = timed
        return timed


def _achieved(result: Run) -> dict[str, Any]:
    """So that a faster run that is no longer the same is noticed."""
    summary = result.summary
    return {name: getattr(summary, name) for name in ("hit_ratio", "ttft_p50_s", "ttft_p99_s", "preemptions")}


def _print(rows: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="simulated requests on one core")
    for name in ("policy", "nodes", "requests", "a minute", "µs each", *PARTS):
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
