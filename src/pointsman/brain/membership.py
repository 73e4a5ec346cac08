"""Which nodes there are and how they are: joining, leaving, draining, reports, outcomes.

Strategy: what is heard of a node becomes an event of its health, and this file carries what follows from the event to
everyone whom it concerns: the fleet (who may be chosen), the caps, the index, the estimates, the next probe, and
observers. Each public call takes `now`.
"""

from collections.abc import Callable
from math import inf
from typing import TypeGuard

from pointsman.brain.agenda import Agenda
from pointsman.brain.caps import Caps
from pointsman.brain.costs.block_size import sized
from pointsman.brain.estimates import Estimates
from pointsman.brain.fleet import Fleet
from pointsman.brain.life.health import Event, Health
from pointsman.brain.life.panic import PanicWatch
from pointsman.brain.life.probe_delay import ProbeDelays
from pointsman.brain.model.facts import Fact, LoadUnknown, NodeChanged, ProbeFailed
from pointsman.brain.model.node import NodeSpec, NodeState
from pointsman.brain.model.orders import Order
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.brain.model.reports import NodeReport
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.peers import Peers
from pointsman.brain.placement import Placement
from pointsman.brain.probing import Probing
from pointsman.brain.redeclaring import redeclare, same_endpoint

FLOW_SECONDS = 2.0
"""Tokens came so lately that a node whose probe failed is busy, not down. Progress is told every few tokens only."""
REFUSALS = ("refused", "connect", "resolve")
"""Reasons of failures that say that nobody takes connections there; a probe's may have details behind a colon."""
SHARE_SECONDS = 1.0
"""How often nodes are compared with their peers, and slots guessed that nobody states."""
NO_MODELS = "it lists no models"
GUESS_SHARE = 0.1
"""Unstated slots are guessed anew when the mean size of requests moved by more than this share."""

_OK, _FAIL, _BUSY, _UP = Verdict.OK, Verdict.FAIL, Verdict.BUSY, NodeState.UP  # members are slow to look up


class Membership:
    """The nodes' lives. Probe orders are put in `out`, which the dispatcher empties."""

    def __init__(
        self,
        settings: BrainSettings,
        fleet: Fleet,
        placement: Placement,
        estimates: Estimates,
        peers: Peers,
        agenda: Agenda,
        emit: Callable[[Fact], None],
        out: list[Order],
        now: float,
    ) -> None:
        self._settings = settings
        self._fleet = fleet
        self._placement = placement
        self._estimates = estimates
        self._peers = peers
        self._emit = emit
        self.health = Health(settings)
        self._caps = Caps(settings, fleet, self.health)
        self._probing = Probing(fleet, self.health, agenda, out)
        self._delays = ProbeDelays()
        self._panic = PanicWatch(fleet, emit)
        self._leaving: set[int] = set()
        self._progress: dict[int, float] = {}
        self._started_at: dict[int, float] = {}
        self._unstated: dict[int, float] = {}
        self._agenda = agenda
        agenda.add(now + SHARE_SECONDS, self._renew_shares, now)

    def configure(self, settings: BrainSettings) -> None:
        """Go by `settings` from now on."""
        self._settings = settings
        self.health.configure(settings)
        self._caps.configure(settings)

    def add(self, spec: NodeSpec, now: float) -> None:
        """A new node, joining until its first good probe, or one that was leaving and stays after all.

        Raises ValueError for a taken id, and blocks in MiB of a model that is not known.
        """
        spec = sized(spec)
        if self._fleet.row_of.get(spec.name) in self._leaving:
            self.declare(spec, now)
        else:
            self._add(spec, now)

    def declare(self, spec: NodeSpec, now: float) -> None:
        """There is a node as `spec` says: a new one, or the one of that id, which stays if it was leaving.

        An id whose address changes is another node's: the one before finishes what it has under another id.
        Raises ValueError if there is no room, and for blocks in MiB of a model that is not known.
        """
        spec = sized(spec)
        row = self._fleet.row_of.get(spec.name)
        if row is None:
            self._add(spec, now)
        elif not same_endpoint(self._fleet.spec(row), spec):
            self._replace(row, spec, now)
        else:
            self._redeclare(row, spec, now)
            if row in self._leaving:
                self.undrain(row, now)

    def _replace(self, row: int, spec: NodeSpec, now: float) -> None:
        if not self._fleet.room:
            raise ValueError(f"there is no room for two nodes {spec.name!r} at a time")
        self._peers.forget(row)
        self._fleet.rename(row, f"{spec.name} (replaced {row})")
        self._add(spec, now)
        self.remove(row, now)

    def _redeclare(self, row: int, spec: NodeSpec, now: float) -> None:
        before, models = self._fleet.spec(row), self._fleet.models[row]
        redeclare(row, spec, self._fleet, self._placement, self._estimates, now)
        if spec.weight != before.weight:
            self._caps.set_weight(row, spec.weight, now)
        if spec.slots is not None:
            self._unstated.pop(row, None)
        elif before.slots is not None:
            self._unstated[row] = 0.0
        self._caps.renew(row, now)
        self._panic.look(models | self._fleet.models[row], now)

    def _add(self, spec: NodeSpec, now: float) -> None:
        row = self._fleet.add(spec)
        self._caps.add(row, spec.weight)
        self._estimates.add(row, spec, now)
        if spec.slots is None:
            self._unstated[row] = 0.0
        self.health.add(row, int(self._fleet.columns.identity[row]), now)
        self._placement.track(row)
        self._probing.start(row, now)

    def remove(self, row: int, now: float) -> None:
        """No new work; the node is gone once nothing runs there."""
        self._move(row, Event.DRAINED, now)
        self._leaving.add(row)
        self.settle(row, now)

    def drain(self, row: int, now: float) -> None:
        """No new work; what runs there goes on."""
        self._move(row, Event.DRAINED, now)

    def undrain(self, row: int, now: float) -> None:
        """The node takes work again, and is not removed if that was under way."""
        self._leaving.discard(row)
        self._move(row, self.health.undrained(row), now)

    def set_weight(self, row: int, weight: float, now: float) -> None:
        """The share of its concurrency the node may fill. Raises ValueError unless above 0."""
        self._caps.set_weight(row, weight, now)

    def settle(self, row: int, now: float) -> None:
        """Complete a removal if nothing runs on the node any more."""
        if row not in self._leaving or self._fleet.columns.outstanding[row]:
            return
        self._leaving.discard(row)
        models = self._fleet.models[row]
        self._move(row, Event.REMOVED, now)
        self._placement.untrack(row)
        self._estimates.remove(row)
        self.health.remove(row)
        self._peers.forget(row)
        self._fleet.remove(row)
        for part in (self._probing, self._delays):
            part.forget(row)
        self._caps.remove(row)
        for memory in (self._progress, self._started_at, self._unstated):
            memory.pop(row, None)
        self._panic.look(models, now)

    def on_probation(self, row: int) -> bool:
        """Whether the node has to show first that it works: it is on trial, or down and used in panic."""
        state = self._fleet.states[row]
        return state is not _UP and (state is NodeState.DOWN or self.health.on_trial(row))

    def first_token(self, row: int, now: float) -> None:
        """A request began to be answered."""
        self._progress[row] = now
        event = self.health.first_token(row)
        if event is not None:
            self._move(row, event, now)

    def settle_all(self, now: float) -> None:
        """Complete the removals that waited for what other gateways had on the nodes."""
        for row in tuple(self._leaving):
            self.settle(row, now)

    def progress(self, row: int, now: float) -> None:
        """Tokens came from the node: a failing probe would only mean that it is busy."""
        self._progress[row] = now

    def ended(self, row: int, outcome: Outcome, now: float) -> None:
        """A real request on the node ended: what that says about it."""
        verdict = outcome.verdict
        if verdict is _OK:
            self._progress[row] = self._fleet.well_at[row] = now
            self._refuses(row, False)
            self._served(row, True, now)
        elif verdict is _FAIL or verdict is _BUSY:
            self._refuses(row, outcome.free and outcome.reason in REFUSALS)
            if verdict is _BUSY:
                self._caps.busy(row, now)
            else:
                self._served(row, False, now, outcome.reason)
        self.settle(row, now)

    def node_of(self, row: int, generation: int) -> str | None:
        """The id of the node that had the row in that generation; None if it has left."""
        fleet = self._fleet
        there = row in self.health.records and fleet.generation[row] == generation
        return fleet.spec(row).name if there else None

    def complaint(self, row: int, ended: float, now: float) -> bool:
        """A client found the answer bad that ended at `ended`; whether that counts.

        It does not if the node's state has changed since: a node on trial is not judged by what it did before.
        """
        if self.health.records[row].changed_at > ended:
            return False
        self._served(row, False, now, "feedback")
        return True

    def report(self, report: NodeReport, now: float) -> int | None:
        """A reading of a node; its row if the node is down and does not answer. Unknown nodes are passed over: they
        may have left.

        A node that is well and lists no models stays joining: no request could go there.
        """
        row = self._fleet.row_of.get(report.node)
        if row is None:
            return None
        refused = not report.ok and report.reason.partition(":")[0] in REFUSALS
        self._refuses(row, refused)
        if report.ok:
            self._learn(row, report, now)
        elif self.flows(row, report, now) and not refused:
            return None
        self._fleet.columns.reported_load[row] = (report.load or 0.0) if report.ok else 1.0
        self._judge(row, report, now)
        self._probing.heed(row, now)
        return row if not report.ok and self._fleet.states[row] is NodeState.DOWN else None

    def flows(self, row: int, report: NodeReport, now: float) -> bool:
        """Whether tokens came from the node since its probe began, which `report` tells of, or shortly before."""
        return report.flowing or self._progress.get(row, -inf) > now - max(report.seconds, FLOW_SECONDS)

    def refresh(self, now: float) -> None:
        """Move the caps that follow the time."""
        self._caps.refresh(now)

    def _renew_shares(self, since: float, now: float) -> None:
        self._guess_slots(now)
        self._caps.lower(self._estimates.excess(now, now - since), now - since, now)
        self._agenda.add(now + SHARE_SECONDS, self._renew_shares, now)

    def _judge(self, row: int, report: NodeReport, now: float) -> None:
        """What a probe says about the node's health. A slow one, too, means no more than busy while tokens flow."""
        fit = report.ok and bool(self._fleet.models[row])
        if not fit:
            state, url = self._fleet.states[row], self._fleet.spec(row).url
            self._emit(ProbeFailed(now, report.node, state, report.reason or NO_MODELS, url))
        elif report.running is None and report.load is None:
            self._emit(LoadUnknown(now, report.node))
        late = self._delays.abnormal(row, report.seconds) and not self.flows(row, report, now)
        if report.ok:
            self._fleet.well_at[row] = now
            self._delays.observe(row, report.seconds)
        event = self.health.probed(row, report.ok, now, late=late)
        if event is not None and (fit or event is not Event.ADMITTED):
            reason = report.reason if not report.ok else f"answered after {report.seconds:.1f} s" if late else ""
            self._move(row, event, now, reason)

    def _served(self, row: int, well: bool, now: float, reason: str = "") -> None:
        event = self.health.served(row, well)
        if event is not None and not (event is Event.TRIPPED and self._must_stay(row)):
            self._move(row, event, now, reason)
        if not well:
            self._probing.heed(row, now)

    def _refuses(self, row: int, refuses: bool) -> None:
        if self._fleet.refusing[row] != refuses:
            self._fleet.refusing[row] = refuses
            self._fleet.touch()

    def _learn(self, row: int, report: NodeReport, now: float) -> None:
        columns = self._fleet.columns
        spec = self._fleet.spec(row)
        if report.started_at is not None and self._started_at.setdefault(row, report.started_at) != report.started_at:
            self._started_at[row] = report.started_at
            self._placement.forget(row)
        if report.models is not None and not spec.models and frozenset(report.models) != self._fleet.models[row]:
            concerned = self._fleet.models[row] | frozenset(report.models)
            self._fleet.models[row] = frozenset(report.models)
            self._fleet.touch()
            self._panic.look(concerned, now)
        self._learn_load(row, report)
        if _told(report.slots) and spec.slots is None and columns.slots[row] != report.slots:
            self._unstated.pop(row, None)
            columns.slots[row] = report.slots
            self._caps.renew(row, now)
        self._learn_capacity(row, report)
        if spec.residency == "commanded":
            self._placement.heard(row, report, now)

    def _guess_slots(self, now: float) -> None:
        """Where nobody states them, slots are the requests of mean size that the node's KV memory holds."""
        mean = self._estimates.request_size.mean()
        if mean is None:
            return
        cells = self._fleet.cells
        for row, guessed_at in self._unstated.items():
            if abs(mean - guessed_at) <= GUESS_SHARE * mean:
                continue
            tokens = cells.kv_capacity[row] * cells.block_tokens[row]
            if tokens < inf:
                self._unstated[row] = mean
                cells.slots[row] = max(1.0, tokens // mean)
                self._caps.renew(row, now)

    def _learn_load(self, row: int, report: NodeReport) -> None:
        columns = self._fleet.columns
        if report.waiting is not None or report.load is not None:
            self._estimates.reported(row)
        if report.running is not None:
            columns.reported_running[row] = report.running
        if report.waiting is not None:
            columns.reported_waiting[row] = report.waiting
            self._estimates.queueing.observe(row, report.running or 0, report.waiting)
        if report.gpu_busy is not None:
            columns.reported_gpu_busy[row] = report.gpu_busy
        if report.kv_usage is not None:
            columns.reported_kv_usage[row] = report.kv_usage

    def _learn_capacity(self, row: int, report: NodeReport) -> None:
        columns = self._fleet.columns
        if _told(report.block_tokens) and columns.block_tokens[row] != report.block_tokens:
            columns.block_tokens[row] = report.block_tokens
            self._placement.resized(row)
        if _told(report.kv_blocks) and columns.kv_capacity[row] != report.kv_blocks:
            self._placement.pool.resize(row, report.kv_blocks)
            self._placement.resized(row)

    def _move(self, row: int, event: Event, now: float, reason: str = "") -> None:
        """Apply the event, and what follows from it if the node's state changed."""
        before = self.health.records[row].state
        if not self.health.on(row, event, now):
            return
        after = self.health.records[row].state
        self._fleet.states[row] = after
        self._fleet.admitted[row] = not self.health.records[row].new
        self._fleet.touch()
        if after is NodeState.DOWN:
            self._placement.fell(row, now, tells_start=row in self._started_at)
            self._estimates.fell(row, now)
        if after is NodeState.UP:
            self._caps.returned(row, now)
        else:
            self._caps.renew(row, now)
        spec = self._fleet.spec(row)
        self._emit(NodeChanged(now, spec.name, before, after, event, reason, spec.url))
        self._panic.look(self._fleet.models[row], now)

    def _must_stay(self, row: int) -> bool:
        """Whether taking the node out would leave a model fewer than half of its nodes up, or none."""
        fleet = self._fleet
        if self.health.on_trial(row):
            return False
        for model in fleet.models[row]:
            members = fleet.members(model)
            others = sum(fleet.states[member] is NodeState.UP for member in members if member != row)
            if not others or 2 * others < len(members):
                return True
        return False


def _told(amount: int | None) -> TypeGuard[int]:
    """Whether a report says something usable: an engine that is starting may show 0 slots or blocks."""
    return amount is not None and amount > 0
