"""Microseconds per decision: policy x nodes x prompt x index size; chain, insertion, pump and memory apart.

A decision is everything from a sized ticket to a booked lease: candidates, overlap look-up of the whole prompt, view,
score, choice, booking. Hashing the prompt, inserting its chain afterwards and pumping the queue are reported apart.
"""

import argparse
import json
import os
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from time import perf_counter_ns
from typing import Any

import numpy as np

from pointsman.brain.cache.chain import byte_chain
from pointsman.brain.cache.index import PrefixIndex
from pointsman.brain.dispatcher import Dispatcher
from pointsman.brain.lease import Ticket
from pointsman.brain.model.choice import Choice
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.reports import NodeReport
from pointsman.brain.model.request import Chain, Request
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.policies.registry import POLICIES, build
from pointsman.brain.policies.table import PolicyTable

NODES = (4, 16, 128, 1024)
PROMPTS = (1024, 32768)
ENTRIES = (10_000, 1_000_000)
BUDGET_US = {4: 30.0, 16: 30.0, 128: 60.0, 1024: 150.0}
"""Targets for the median at a prompt of 32k tokens; none is stated for 4 nodes, so that of 16 stands in."""
BYTES_PER_TOKEN = 4
SYSTEM_LINKS = 16
"""Every node holds the system prompt (1k tokens); the rest of a prompt is held, in part, by two nodes."""
IN_FLIGHT = 8
"""Requests running per node, so that columns are not all zero."""
WINDOW = 64


def main() -> int:
    arguments = _arguments()
    rows = list(_decisions(arguments))
    result = {"decisions": rows, **_apart(arguments.rounds), **_memory(max(arguments.entries))}
    if arguments.json:
        print(json.dumps(result, indent=1))
    else:
        _print(result)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench decide", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--rounds", type=int, default=400, help="decisions timed per row (default: 400)")
    parser.add_argument("--policies", type=lambda text: text.split(","), default=sorted(POLICIES), metavar="A,B")
    numbers: Callable[[str], tuple[int, ...]] = lambda text: tuple(int(part) for part in text.split(","))  # noqa: E731
    parser.add_argument("--nodes", type=numbers, default=NODES, metavar="N,M")
    parser.add_argument("--prompts", type=numbers, default=PROMPTS, metavar="N,M", help="prompt lengths in tokens")
    parser.add_argument("--entries", type=numbers, default=ENTRIES, metavar="N,M", help="index entries")
    return parser.parse_args()


def _decisions(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    for nodes in arguments.nodes:
        for entries in arguments.entries:
            bench = Bench(nodes, entries)
            for prompt in arguments.prompts:
                for policy in arguments.policies:
                    median, p99 = bench.decide(policy, prompt, arguments.rounds)
                    yield {
                        "policy": policy,
                        "nodes": nodes,
                        "prompt_tokens": prompt,
                        "index_entries": entries,
                        "us_median": round(median, 2),
                        "us_p99": round(p99, 2),
                    }
            print(f"{nodes} nodes, {entries:,} entries: done", file=sys.stderr)


class Bench:
    """A fleet with work in flight and an index filled by earlier conversations."""

    def __init__(self, nodes: int, entries: int) -> None:
        self.random = np.random.default_rng(0)
        settings = BrainSettings()
        self.dispatcher = Dispatcher(settings, PolicyTable(build("least_requests")))
        for number in range(nodes):
            spec = NodeSpec(url=f"http://{number}", models=("m",), kv_tokens=4_000_000, slots=256)
            self.dispatcher.add_node(spec, 0.0)
            self.dispatcher.report(NodeReport(node=spec.name, ok=True), 0.0)
        self.nodes = nodes
        self.system = [int(link) for link in self.random.integers(1, 2**63, SYSTEM_LINKS)]
        self._fill(entries)
        self._load()

    def decide(self, policy: str, prompt_tokens: int, rounds: int) -> tuple[float, float]:
        """Median and P99 of `rounds` decisions, µs."""
        dispatcher = self.dispatcher
        dispatcher.set_policy("default", build(policy), 0.0)
        placement = dispatcher.placement
        tickets = [self._ticket(number, prompt_tokens) for number in range(8)]
        spans = np.empty(rounds)
        for number in range(rounds + 20):
            ticket = tickets[number % len(tickets)]
            begin = perf_counter_ns()
            view = placement.view(ticket, 1.0)
            assert view is not None
            answer = placement.decide(ticket, view, 1.0)
            lease = placement.book(ticket, view, answer, number, 1.0) if isinstance(answer, Choice) else None
            span = perf_counter_ns() - begin
            if lease is not None:
                placement.release(lease, 0.0)
            if number >= 20:
                spans[number - 20] = span / 1000.0
        return float(np.median(spans)), float(np.quantile(spans, 0.99))

    def _fill(self, entries: int) -> None:
        """Conversations of 500 links behind the system prompt, each held by one node, until the table is full."""
        placement = self.dispatcher.placement
        for row in range(self.nodes):
            placement._room[row] = (64.0, 1.0)
            placement.index.resize(row, max(1024, 2 * entries // self.nodes + 1024))
            placement.index.insert(row, self.system)
        conversation = 0
        while len(placement.index) < entries:
            links = self.random.integers(1, 2**63, 500).tolist()
            placement.index.insert(conversation % self.nodes, self.system + links)
            conversation += 1

    def _ticket(self, number: int, prompt_tokens: int) -> Ticket:
        """A prompt of which the system prompt is everywhere, a half on one node and three quarters on another."""
        links = prompt_tokens // 64
        chain = self.system + self.random.integers(1, 2**63, max(0, links - SYSTEM_LINKS)).tolist()
        chain = chain[:links]
        index = self.dispatcher.placement.index
        first, second = self.random.integers(0, self.nodes, 2)
        index.insert(int(first), chain[: links // 2])
        index.insert(int(second), chain[: 3 * links // 4])
        request = Request(
            id=str(number), model="m", prompt_tokens=prompt_tokens, chain=Chain("tokens", chain, 64.0), stream=True,
            max_tokens=256, session=f"session-{number}",
        )  # fmt: skip
        return Ticket(number, request, prompt_tokens, 256, 256, 64.0, 0.0)

    def _load(self) -> None:
        """Work in flight, most of it decoding."""
        ledger = self.dispatcher.placement.ledger
        for row in range(self.nodes):
            for _ in range(int(self.random.integers(1, 2 * IN_FLIGHT))):
                booking = ledger.book(row, int(self.random.integers(0, 8000)), 0, 9000, 0.0)
                if self.random.random() < 0.8:
                    ledger.running(booking, 0.0)
        self.dispatcher.estimates.refresh(0.5)


def _median_us(work: Callable[[], object], rounds: int) -> float:
    spans = []
    for _ in range(rounds):
        begin = perf_counter_ns()
        work()
        spans.append(perf_counter_ns() - begin)
    return float(np.median(spans)) / 1000.0


def _apart(rounds: int) -> dict[str, Any]:
    """Hashing per KB, insertion of 512 links new and known, and one pump over a full window."""
    prompt = os.urandom(32768 * BYTES_PER_TOKEN)
    bench = Bench(16, 100_000)
    index = bench.dispatcher.placement.index
    links = [[int(x) for x in bench.random.integers(1, 2**63, 512)] for _ in range(rounds)]
    fresh = iter(links)
    return {
        "chain_us_per_kb": round(_median_us(lambda: byte_chain(1, prompt), rounds) / (len(prompt) / 1024), 3),
        "insert_512_new_us": round(_median_us(lambda: index.insert(3, next(fresh)), rounds), 1),
        "insert_512_known_us": round(_median_us(lambda: index.insert(3, links[-1]), rounds), 1),
        "pump": [_pump(nodes) for nodes in (16, 128)],
    }


def _pump(nodes: int) -> dict[str, Any]:
    """One look of the late-binding policy at a window of 64 waiting prompts of 32k tokens."""
    bench = Bench(nodes, 10_000)
    policy = build("fastest_completion")
    placement = bench.dispatcher.placement
    tickets = [bench._ticket(number, 32768) for number in range(WINDOW)]

    def look() -> int:
        views = [placement.view(ticket, 1.0) for ticket in tickets]
        return policy.pick([ticket.request for ticket in tickets], [view for view in views if view is not None])

    return {"nodes": nodes, "window": WINDOW, "us_median": round(_median_us(look, 50), 1)}


def _memory(entries: int) -> dict[str, float]:
    """Bytes per entry of the table alone, and of the believed mode's LRU, at 128 nodes."""
    random = np.random.default_rng(1)
    tracemalloc.start()
    index = PrefixIndex()
    for row in range(128):
        index.add(row, entries)
    conversation = 0
    while len(index) < entries:
        index.insert(conversation % 128, random.integers(1, 2**63, 500).tolist())
        conversation += 1
    total = tracemalloc.get_traced_memory()[0]
    held = [index._held.pop(row) for row in range(128)]
    links = sum(len(node) for node in held)
    del held
    table = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return {
        "bytes_per_entry": round(table / len(index), 1),
        "believed_bytes_per_entry": round((total - table) / links, 1),
    }


def _print(result: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="µs per decision (median / P99)")
    columns = sorted({(r["nodes"], r["prompt_tokens"], r["index_entries"]) for r in result["decisions"]})
    table.add_column("policy")
    for nodes, prompt, entries in columns:
        table.add_column(f"{nodes} nodes\n{prompt // 1024}k tokens\n{entries:,} entries", justify="right")
    cells = {(r["policy"], r["nodes"], r["prompt_tokens"], r["index_entries"]): r for r in result["decisions"]}
    for policy in sorted({r["policy"] for r in result["decisions"]}):
        row = [cells.get((policy, *column)) for column in columns]
        table.add_row(policy, *(_cell(cell) for cell in row))
    console = Console(width=max(100, 24 + 18 * len(columns)))
    console.print(table)
    for key, value in result.items():
        if key != "decisions":
            console.print(f"{key}: {value}")


def _cell(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return ""
    over = cell["prompt_tokens"] >= 32768 and cell["us_median"] > BUDGET_US.get(cell["nodes"], 150.0)
    text = f"{cell['us_median']:.0f} / {cell['us_p99']:.0f}"
    return f"[red]{text}[/red]" if over else text


if __name__ == "__main__":
    sys.exit(main())
