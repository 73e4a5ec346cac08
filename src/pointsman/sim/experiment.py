"""One run: a demand on a fleet under a policy, from the fleet's coming up to the last answer.

The gateway has been up for some time when the first request comes: nodes have joined and their slow start is over.
Nothing is cut at the end; requests sent in the window are measured however long they take.
"""

from collections.abc import Callable
from typing import cast

import msgspec

from pointsman.brain.dispatcher import Dispatcher
from pointsman.brain.model.facts import Placed, PolicyRaised
from pointsman.brain.model.outcome import CANCELLED
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.observers import Handlers
from pointsman.brain.policies.base import Policy
from pointsman.brain.policies.table import PolicyTable
from pointsman.observe.comparison import Window
from pointsman.observe.record import Journaled, Sink, begin
from pointsman.sim.alone import alone_on
from pointsman.sim.brain import Brain
from pointsman.sim.by_clients import ClientFigures, by_clients
from pointsman.sim.clients import Clients
from pointsman.sim.cluster import Cluster, Spread, in_turn
from pointsman.sim.collector import seldom_collected
from pointsman.sim.delays import Delays
from pointsman.sim.demand import Demand
from pointsman.sim.exchange import Exchange
from pointsman.sim.fleet import Node, reported_blocks
from pointsman.sim.habits import Habits
from pointsman.sim.incidents import Incidents, enter
from pointsman.sim.kv_events import EventDelays
from pointsman.sim.loop import Loop, Rank
from pointsman.sim.process import Counters
from pointsman.sim.record import Record
from pointsman.sim.sharing import Sharing
from pointsman.sim.summary import NodeFigures, Slo, Summary, Terms, node_figures, summarized

LEAD_S = 1.0
"""Quiet seconds before the first request, besides the slow start."""
TICKS = 100
"""How often, over a run, the caller is told how far it is."""

FORWARD = "forward"
"""The reason of a choice that goes to where the cache is, although another node had the better score."""

GATEWAY_SEED = 1_000_003
"""Between the seeds of two gateways, so that they are not those of other runs."""

Tick = Callable[[float], None]


class Experiment(msgspec.Struct, frozen=True, kw_only=True):
    """What to run. `seconds`: requests are sent for so long, measured after the share `warm_up` of it.

    `spread` brings requests to the `gateways`. They hear of each other every `sharing_s`; with 0, they know how many
    they are and no more. `events`: how they hear what nodes report of their caches. `resume`: streams that lose their
    node go on elsewhere. `exact`: engines take step after step, which costs much more time and changes nothing.
    """

    nodes: tuple[Node, ...]
    demand: Demand
    policy: Policy
    settings: BrainSettings = BrainSettings()
    seconds: float
    warm_up: float = 0.1
    delays: Delays = Delays()
    events: EventDelays = EventDelays()
    habits: Habits = Habits()
    slo: Slo = Slo()
    incidents: Incidents = Incidents()
    gateways: int = 1
    spread: Spread = in_turn
    sharing_s: float = 0.0
    resume: bool = False
    exact: bool = False
    seed: int = 1

    @property
    def window(self) -> Window:
        return Window(self.warm_up * self.seconds, self.seconds)

    def capacity(self) -> dict[str, float]:
        """Mean prefill rate (tokens per second) of each node over the run, what happens to it included."""
        left = self.incidents.left
        return {node.name: node.prefill_rate * left(node.name, self.seconds) for node in self.nodes}

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
    """What came of it. Records are in the order in which requests ended; `clients` has each kind's figures, and
    nothing where a trace says who asks.
    """

    summary: Summary
    nodes: tuple[NodeFigures, ...]
    records: tuple[Record, ...]
    clients: tuple[ClientFigures, ...] = ()


def run(experiment: Experiment, tick: Tick, journal: Sink | None = None, observer: Handlers | None = None) -> Run:
    """Run to the last answer. `tick` is told the simulated second; `journal` takes the dispatcher's calls, to replay.

    With several gateways, a journal would mix their calls, and an observer their facts: both are for one.

    Raises ValueError when there is nothing to send, and what the policy raises.
    """
    return Stage(experiment, tick, journal, observer).run()


class Stage:
    """All parts of one run, which `run` plays once."""

    def __init__(
        self, experiment: Experiment, tick: Tick, journal: Sink | None, observer: Handlers | None = None
    ) -> None:
        self._experiment = experiment
        self._tick = tick
        settings = experiment.settings
        self._loop = Loop(-(settings.slow_start_s + experiment.delays.report_s + LEAD_S))
        self.dispatchers = [
            _dispatcher(each, PolicyTable(experiment.policy), self._loop.now, journal) for each in _settings(experiment)
        ]
        self.cluster = Cluster(
            self._loop,
            self.dispatchers,
            experiment.nodes,
            experiment.delays,
            self._ended,
            self._look_for_end,
            experiment.spread,
            _exact(experiment, journal),
        )
        self._clients = Clients(
            self._loop,
            experiment.demand.dialogues,
            experiment.seconds,
            experiment.habits,
            experiment.seed,
            self.cluster.submit,
            self.cluster.cancel,
            resumable=experiment.resume,
            block_tokens=reported_blocks(experiment.nodes),
        )
        self._counted: list[list[Counters]] = []
        self._forwards = 0
        for dispatcher in self.dispatchers:
            dispatcher.subscribe({Placed: self._placed, PolicyRaised: _raised})
            if observer is not None:
                dispatcher.subscribe(observer)

    def run(self) -> Run:
        if not self._clients.active:
            raise ValueError("there is no request to send")
        self._enter_events()
        self.cluster.join()
        self.cluster.listen(self._experiment.events, self._experiment.seed)
        if self._experiment.sharing_s:
            Sharing(self._loop, self.cluster.gateways, self._experiment.sharing_s).begin()
        with seldom_collected():
            self._loop.run()
        while len(self._counted) < 2:  # all was answered before the window was over
            self._measure(None)
        return self._result()

    def _enter_events(self) -> None:
        """What happens at moments that are known beforehand."""
        window = self._experiment.window
        for moment in (window.start_s, window.end_s):
            self._loop.at(moment, Rank.OBSERVER, self._measure)
        enter(self._experiment.incidents, self._loop, self.cluster)
        self._loop.at(0.0, Rank.OBSERVER, self._report)

    def _result(self) -> Run:
        experiment, records = self._experiment, tuple(self._clients.records)
        before, after = self._counted
        nodes = tuple(
            node_figures(name, node.counters(), early, late, experiment.window.seconds)
            for (name, node), early, late in zip(self.cluster.nodes.items(), before, after, strict=True)
        )
        judged = [record for record in records if not _left_early(record, experiment.slo)]
        summary = summarized(experiment.policy.name, judged, experiment.terms(), nodes, self._forwards)
        kinds = [dialogue.kind for dialogue in experiment.demand.dialogues]
        return Run(summary, nodes, records, by_clients(judged, kinds, experiment.window, experiment.slo))

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


def _exact(experiment: Experiment, journal: Sink | None) -> frozenset[str]:
    """The nodes that have to tell of tokens between the first and the last: a journal shows them, and of a node whose
    probe fails the dispatcher asks how long ago there were some.
    """
    if experiment.exact or journal is not None:
        return frozenset(node.name for node in experiment.nodes)
    return frozenset(failure.node for failure in experiment.incidents.failures)


def _settings(experiment: Experiment) -> list[BrainSettings]:
    """Those of each gateway: they differ in their draws."""
    settings, count = experiment.settings, experiment.gateways
    unheard = 1 if experiment.sharing_s else count
    shared = msgspec.structs.replace(settings, gateways=max(unheard, settings.gateways))
    return [msgspec.structs.replace(shared, seed=experiment.seed + GATEWAY_SEED * number) for number in range(count)]


def _raised(fact: PolicyRaised) -> None:
    """Ends the run: a gateway goes on for the others' sake, but figures of a broken policy are worth nothing."""
    fact.error.add_note(f"The policy {fact.policy} raised this in `{fact.call}`.")
    raise fact.error


def _left_early(record: Record, slo: Slo) -> bool:
    """Whether the client left before the request was late: then it says nothing of the policy."""
    return record.problem == CANCELLED.reason and (record.first_s is not None or record.ttft_s <= slo.ttft_s)


def _dispatcher(settings: BrainSettings, policies: PolicyTable, now: float, journal: Sink | None) -> Brain:
    dispatcher = Dispatcher(settings, policies, (), now)
    if journal is None:
        return dispatcher
    return cast(Brain, Journaled(dispatcher, begin(settings, policies, now), journal))
