"""What watching costs: microseconds per fact and per journaled call."""

import argparse
import sys
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np

from pointsman.brain.dispatcher import Dispatcher
from pointsman.brain.model.choice import Choice
from pointsman.brain.model.facts import Decided, Ended, FirstToken, Placed
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.brain.model.request import Chain, Request
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.model.view import Cells, View
from pointsman.brain.policies.registry import build
from pointsman.brain.policies.table import PolicyTable
from pointsman.observe.decisions import Decisions
from pointsman.observe.metrics import Metrics
from pointsman.observe.record import Journaled, begin
from pointsman.observe.snapshot import Snapshot

NODES = 16
LINKS = 128  # a prompt of 32 KiB, about 8,000 tokens
CALLS = 20_000


def main() -> int:
    argparse.ArgumentParser(prog="scripts/bench observe", description=__doc__).parse_args()
    """Print one line per thing measured: the best of five rounds."""
    dispatcher = fleet()
    request = Request(id="r" * 16, model="m", chain=Chain("bytes", [2**63 + i for i in range(LINKS)], 64.0))
    usage = {"prompt_tokens": 8000, "completion_tokens": 200, "cached_tokens": 4000}
    decided = decide(request)
    common: dict[str, Any] = {"ticket": 1, "lease": 1, "request": request, "node": "http://1"}
    placed = Placed(now=1.0, attempt=1, waited_s=0.1, prompt_tokens=8000, overlap_tokens=4000, reason="cost", **common)
    outcome = Outcome(verdict=Verdict.OK, **usage)
    ended = Ended(
        now=9.0, outcome=outcome, seconds=8.0, whole_s=8.1, tpot_s=0.04, overlap_tokens=4000, final=True, **common
    )
    metrics, decisions = Metrics(), Decisions(dispatcher.fleet)
    for fact in (decided, placed, FirstToken(now=2.0, ttft_s=1.0, **common), ended):
        show(f"metrics, {type(fact).__name__}", lambda fact=fact: metrics(fact))
    show(f"ring of decisions, {NODES} nodes", lambda: decisions(decided))
    policy = build("least_requests")
    show(f"snapshot of a decision, {NODES} nodes", lambda: Snapshot.of(decided, policy))
    settings, table = BrainSettings(), PolicyTable(policy)
    journaled = Journaled(dispatcher, begin(settings, table, 0.0), len)
    show("journal, tokens seen", lambda: journaled.tokens(1, 16, 1.0), lambda: dispatcher.tokens(1, 16, 1.0))
    show(
        f"journal, submit of {LINKS} links",
        lambda: journaled.submit(request, 1.0),
        lambda: dispatcher.submit(request, 1.0),
    )
    return 0


def fleet() -> Dispatcher:
    """Nodes that know no model: a submitted request waits until the queue is full, then is refused, at no cost."""
    dispatcher = Dispatcher(BrainSettings(queue_limit=0), PolicyTable(build("least_requests")))
    for i in range(NODES):
        dispatcher.add_node(NodeSpec(url=f"http://{i}"), 0.0)
    return dispatcher


def decide(request: Request) -> Decided:
    columns, scores = Cells(NODES).columns(), np.random.default_rng(0).random(NODES)
    view = View(columns, np.arange(NODES), overlap=np.zeros(NODES), prompt_tokens=8e3, output_tokens=200.0, whole=True)
    return Decided(
        now=1.0, ticket=1, request=request, policy="least_requests", view=view, answer=Choice(3, scores, "cost")
    )  # fmt: skip


def show(what: str, run: Callable[[], Any], less: Callable[[], Any] | None = None) -> None:
    """Microseconds per call of `run`, without those of `less`."""
    seconds = best(run) - (best(less) if less else 0.0)
    print(f"{what:40} {1e6 * seconds / CALLS:7.2f} µs")


def best(run: Callable[[], Any]) -> float:
    return min(timeit.repeat(run, number=CALLS, repeat=5))


if __name__ == "__main__":
    sys.exit(main())
