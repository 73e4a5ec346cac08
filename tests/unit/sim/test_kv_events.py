"""KV events on their way to simulated gateways: what these know is what the engines hold."""

import json
from typing import Any

import msgspec
import pytest
from tests.support.simulated import experiment, journaled

from pointsman.brain.model.kv_events import CacheChange
from pointsman.brain.model.milestones import Ended
from pointsman.engine.kv_events import BlockRemoved, BlockStored, KvEventBatch
from pointsman.sim.demand import Demand, Dialogue, RowAsk, block_link
from pointsman.sim.experiment import Experiment, Stage, run
from pointsman.sim.fleet import Node, NodeKind, nodes_of, reporting
from pointsman.sim.generated import session_demand
from pointsman.sim.incidents import Drain, Failure, Incidents
from pointsman.sim.kv_events import EventDelays, Listener
from pointsman.sim.loop import Loop, Rank
from pointsman.workload.presets import WORKLOADS
from pointsman.workload.rows import TraceRow

FAILURE = Failure(node="small-1", begins_s=6.0, ends_s=9.0)


def nodes() -> tuple[Node, ...]:
    return reporting(nodes_of([NodeKind(name="small", count=3, kv_blocks=700)]))


def what(**more: Any) -> Experiment:
    demand = session_demand(1, 3.0, 12.0, 8000, WORKLOADS["assistant"])
    return experiment("fastest_completion", demand, nodes(), **{"seconds": 12.0, **more})


def told_and_held(stage: Stage) -> list[tuple[set[int], set[int]]]:
    """For each gateway and node the blocks that it knows of, and those that are there."""
    cluster, found = stage.cluster, []
    for dispatcher in stage.dispatchers:
        placement = dispatcher.placement  # type: ignore[attr-defined]
        for name, node in cluster.nodes.items():
            row = dispatcher.fleet.row_of[name]  # type: ignore[attr-defined]
            core = node._process._timeline.core  # type: ignore[attr-defined]
            found.append(
                (set(placement.residency.index._links[row]), {block_link(block) for block in core.pool._references})
            )
    return found


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"events": EventDelays(late_s=0.4, loss=0.3)},
        {"gateways": 2, "sharing_s": 0.1, "events": EventDelays(late_s=0.1, loss=0.1)},
        {"incidents": Incidents((), (FAILURE,), ()), "events": EventDelays(late_s=0.2)},
        {"incidents": Incidents((), (), (Drain(node="small-2", begins_s=4.0, ends_s=8.0),))},
    ],
    ids=["at once", "late and lost", "two gateways", "a node is killed", "a node is drained"],
)
def test_when_all_is_over_gateways_know_what_nodes_hold(more: dict[str, Any]) -> None:
    stage = Stage(what(**more), lambda _second: None, None)
    stage.run()
    stage._loop.at(stage._loop.now + 3.0, Rank.OBSERVER, lambda _: stage._loop.stop())
    stage._loop.run()
    lossy = stage._experiment.events.loss > 0.0  # the last batch may be lost, and nobody notice
    for known, held in told_and_held(stage):
        assert known == held or (lossy and len(known ^ held) < 100)
    evicted = sum(node.counters().evicted_blocks for node in stage.cluster.nodes.values())
    assert evicted > 100, "nothing was evicted: belief would have known as much"


def test_a_run_by_report_can_be_replayed() -> None:
    first, second = (journaled(what(events=EventDelays(0.2, 0.1))) for _ in range(2))
    assert first[1] == second[1]
    calls = [json.loads(line)["call"]["call"] for line in first[1]]
    assert calls.count("kv_event") > 20


def test_what_nobody_reports_costs_nobody() -> None:
    believed = nodes_of([NodeKind(name="small", count=3, kv_blocks=700)])
    stage = Stage(msgspec.structs.replace(what(), nodes=believed), lambda _second: None, None)
    stage.run()
    assert all(gateway.listener is None for gateway in stage.cluster.gateways)


class Told:
    """Changes as a gateway gets them."""

    def __init__(self, delays: EventDelays) -> None:
        self.loop = Loop(0.0)
        self.changes: list[CacheChange] = []
        self.listener = Listener(self.loop, delays, 1, 16, self.changes.append)
        self.listener.follow("n")

    def publish(self, sequence: int, *events: BlockStored | BlockRemoved) -> None:
        self.listener.published("n", KvEventBatch(sequence, 0.0, events))

    def run(self) -> CacheChange:
        self.loop.at(10.0, Rank.OBSERVER, lambda _: self.loop.stop())
        self.loop.run()
        return self.changes[-1]


def test_events_come_late_and_in_links_of_the_engines_blocks() -> None:
    told = Told(EventDelays(late_s=2.0))
    assert told.changes[-1].whole
    told.publish(0, BlockStored((5, 6), None, 16), BlockRemoved((6,)))
    assert len(told.changes) == 1
    change = told.run()
    assert (list(change.came), list(change.went), change.link_tokens, change.whole) == (
        [block_link(5), block_link(6)], [block_link(6)], 16, True
    )  # fmt: skip


def test_what_is_foretold_is_what_is_found() -> None:
    """A trace's ids are small numbers, of blocks of any size: those of one must not be taken for those of another."""
    rows = tuple(TraceRow(second * 1.0, 2048, 4, (46, 47, 48 + second, 90 + second), 512) for second in range(8))
    demand = Demand(tuple(Dialogue(row.arrival_s, "", (RowAsk(row),)) for row in rows), "rows")
    foretold: list[tuple[int, int | None]] = []
    run(
        experiment("fastest_completion", demand, nodes()),
        lambda _second: None,
        None,
        {Ended: lambda fact: foretold.append((fact.overlap_tokens, fact.outcome.cached_tokens))},
    )
    assert len(foretold) == 8
    assert all(overlap == cached for overlap, cached in foretold)
    assert max(overlap for overlap, _ in foretold) == 1024
