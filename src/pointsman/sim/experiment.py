"""One run: a demand on a fleet under a policy, from the fleet's coming up to the last answer.

The gateway has been up for some time when the first request comes: nodes have joined and their slow start is over.
Nothing is cut at the end; requests sent in the window are measured however long they take.
"""

from collections.abc import Callable
from typing import cast

import msgspec

from pointsman.brain.dispatcher import Dispatcher
from pointsman.brain.model.facts import Placed
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.policies.base import Policy
from pointsman.brain.policies.table import PolicyTable
from pointsman.observe.comparison import Window
from pointsman.observe.record import Journaled, Sink, begin
from pointsman.sim.alone import alone_on
from pointsman.sim.clients import Clients
from pointsman.sim.cluster import Cluster, Delays
from pointsman.sim.demand import Demand
from pointsman.sim.exchange import Exchange, Record
from pointsman.sim.fleet import Node, Slowdown
from pointsman.sim.loop import Loop, Rank
from pointsman.sim.node import Counters
from pointsman.sim.summary import NodeFigures, Slo, Summary, Terms, node_figures, summarized

LEAD_S = 1.0
"""Quiet seconds before the first request, besides the slow start."""
TICKS = 100
"""How often, over a run, the caller is told how far it is."""

FORWARD = "forward"
"""The reason of a choice that goes to where the cache is, although another node had the better score."""

Tick = Callable[[float], None]


class Experiment(msgspec.Struct, frozen=True, kw_only=True):
    """What to run. `seconds`: requests are sent for so long, measured after the share `warm_up` of it.

    `plain`: share of requests that ask for no stream.
    """

    nodes: tuple[Node, ...]
    demand: Demand
    policy: Policy
    settings: BrainSettings = BrainSettings()
    seconds: float
    warm_up: float = 0.1
    delays: Delays = Delays()
    plain: float = 0.0
    slo: Slo = Slo()
    slowdowns: tuple[Slowdown, ...] = ()
    seed: int = 1

    @property
    def window(self) -> Window:
        return Window(self.warm_up * self.seconds, self.seconds)

    def capacity(self) -> dict[str, float]:
        """Mean prefill rate (tokens per second) of each node over the run, its slowdowns included."""
        rates = {node.name: node.prefill_rate for node in self.nodes}
        for slowdown in self.slowdowns:
            begins, ends = min(slowdown.begins_s, self.seconds), min(slowdown.ends_s, self.seconds)
            rates[slowdown.node] *= 1 - (ends - begins) / self.seconds * (1 - 1 / slowdown.factor)
        return rates

    def terms(self) -> Terms:
        """How its run is judged."""
        rates = self.capacity()
        return Terms(
            window=self.window,
            slo=self.slo,
            nodes=tuple(rates),
            capacity=tuple(rates.values()),
            alone=alone_on(node.profile for node in self.nodes),
            turns=tuple(len(dialogue.asks) for dialogue in self.demand.dialogues),
        )


class Run(msgspec.Struct, frozen=True):
    """What came of it. Records are in the order in which requests ended."""

    summary: Summary
    nodes: tuple[NodeFigures, ...]
    records: tuple[Record, ...]


def run(experiment: Experiment, tick: Tick, journal: Sink | None = None) -> Run:
    """Run to the last answer. `tick` is told the simulated second; `journal` takes the dispatcher's calls, to replay.

    Raises ValueError when there is nothing to send.
    """
    return Stage(experiment, tick, journal).run()


class Stage:
    """All parts of one run, which `run` plays once."""

    def __init__(self, experiment: Experiment, tick: Tick, journal: Sink | None) -> None:
        self._experiment = experiment
        self._tick = tick
        settings = msgspec.structs.replace(experiment.settings, seed=experiment.seed)
        self._loop = Loop(-(settings.slow_start_s + experiment.delays.report_s + LEAD_S))
        self.dispatcher = _dispatcher(settings, PolicyTable(experiment.policy), self._loop.now, journal)
        self.cluster = Cluster(
            self._loop, self.dispatcher, experiment.nodes, experiment.delays, self._ended, self._look_for_end
        )
        self._clients = Clients(
            self._loop,
            experiment.demand.dialogues,
            experiment.seconds,
            experiment.plain,
            experiment.seed,
            self.cluster.submit,
        )
        self._counted: list[list[Counters]] = []
        self._forwards = 0
        self.dispatcher.subscribe({Placed: self._placed})

    def run(self) -> Run:
        if not self._clients.active:
            raise ValueError("there is no request to send")
        self._enter_events()
        self.cluster.join()
        self._loop.run()
        while len(self._counted) < 2:  # all was answered before the window was over
            self._measure(None)
        return self._result()

    def _enter_events(self) -> None:
        """What happens at moments that are known beforehand."""
        window = self._experiment.window
        for moment in (window.start_s, window.end_s):
            self._loop.at(moment, Rank.OBSERVER, self._measure)
        for slowdown in self._experiment.slowdowns:
            node = self.cluster.nodes[slowdown.node]
            self._loop.at(slowdown.begins_s, Rank.ENGINE, node.slow_down, slowdown.factor)
            self._loop.at(slowdown.ends_s, Rank.ENGINE, node.slow_down, 1.0)
        self._loop.at(0.0, Rank.OBSERVER, self._report)

    def _result(self) -> Run:
        experiment, records = self._experiment, tuple(self._clients.records)
        before, after = self._counted
        nodes = tuple(
            node_figures(name, node.counters(), early, late, experiment.window.seconds)
            for (name, node), early, late in zip(self.cluster.nodes.items(), before, after, strict=True)
        )
        summary = summarized(experiment.policy.name, records, experiment.terms(), nodes, self._forwards)
        return Run(summary, nodes, records)

    def _placed(self, placed: Placed) -> None:
        self._forwards += placed.reason == FORWARD

    def _ended(self, exchange: Exchange, problem: str) -> None:
        self._clients.ended(exchange, problem)

    def _look_for_end(self) -> None:
        if not self._clients.active:
            self._loop.stop()

    def _measure(self, _: None) -> None:
        self._counted.append([node.counters() for node in self.cluster.nodes.values()])

    def _report(self, _: None) -> None:
        self._tick(self._loop.now)
        self._loop.at(self._loop.now + self._experiment.seconds / TICKS, Rank.OBSERVER, self._report)


def _dispatcher(settings: BrainSettings, policies: PolicyTable, now: float, journal: Sink | None) -> Dispatcher:
    dispatcher = Dispatcher(settings, policies, (), now)
    if journal is None:
        return dispatcher
    return cast(Dispatcher, Journaled(dispatcher, begin(settings, policies, now), journal))
