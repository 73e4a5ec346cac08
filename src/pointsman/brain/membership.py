"""Which nodes there are and how they are: joining, leaving, draining, reports, health, caps.

Mutates the fleet, the health records and what the placement tracks per node. Each public call takes `now`.
"""

from collections.abc import Callable
from math import inf
from typing import TypeGuard

from pointsman.brain.agenda import Agenda
from pointsman.brain.estimates import Estimates
from pointsman.brain.fleet import IN_USE, Fleet
from pointsman.brain.life.health import Event, Health
from pointsman.brain.model.facts import Fact, LoadUnknown, NodeChanged, ProbeFailed
from pointsman.brain.model.node import NodeSpec, NodeState
from pointsman.brain.model.orders import Order, Probe
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.brain.model.reports import NodeReport
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.peers import Peers
from pointsman.brain.placement import Placement
from pointsman.brain.redeclaring import redeclare, same_endpoint

PROBE_SECONDS = 10.0
PROBE_SECONDS_DOUBT = 2.0
"""Spacing of probes of a node that is up, and of one that is not."""

NO_MODELS = "it lists no models"
GUESS_SHARE = 0.1
"""Unstated slots are guessed anew when the mean size of requests moved by more than this share."""


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
    ) -> None:
        self._settings = settings
        self._fleet = fleet
        self._placement = placement
        self._estimates = estimates
        self._peers = peers
        self._agenda = agenda
        self._emit = emit
        self.health = Health(settings)
        self._out = out
        self._weight: dict[int, float] = {}
        self._busy_cap: dict[int, tuple[float, float]] = {}
        self._ramping: set[int] = set()
        self._leaving: set[int] = set()
        self._progress: dict[int, float] = {}
        self._started_at: dict[int, float] = {}
        self._unstated: dict[int, float] = {}

    def configure(self, settings: BrainSettings) -> None:
        """Go by `settings` from now on."""
        self._settings = settings
        self.health.configure(settings)

    def add(self, spec: NodeSpec, now: float) -> None:
        """A new node, joining until its first good probe, or one that was leaving and stays after all.

        Raises ValueError for a taken id.
        """
        if self._fleet.row_of.get(spec.name) in self._leaving:
            self.declare(spec, now)
        else:
            self._add(spec, now)

    def declare(self, spec: NodeSpec, now: float) -> None:
        """There is a node as `spec` says: a new one, or the one of that id, which stays if it was leaving.

        An id whose address changes is another node's: the one before finishes what it has under another id.
        Raises ValueError if there is no room.
        """
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
        before = self._fleet.spec(row)
        redeclare(row, spec, self._fleet, self._placement, self._estimates, now)
        if spec.weight != before.weight:
            self._weight[row] = spec.weight
        if spec.slots is not None:
            self._unstated.pop(row, None)
        elif before.slots is not None:
            self._unstated[row] = 0.0
        self._recap(row, now)

    def _add(self, spec: NodeSpec, now: float) -> None:
        row = self._fleet.add(spec)
        self._weight[row] = spec.weight
        self._estimates.add(row, spec, now)
        if spec.slots is None:
            self._unstated[row] = 0.0
        self.health.add(row)
        self._placement.track(row)
        self._probe((row, self._fleet.generation[row]), now)

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
        if not weight > 0.0:
            raise ValueError(f"weight must be above 0, not {weight}")
        self._weight[row] = weight
        self._recap(row, now)

    def settle(self, row: int, now: float) -> None:
        """Complete a removal if nothing runs on the node any more."""
        if row not in self._leaving or self._fleet.columns.outstanding[row]:
            return
        self._leaving.discard(row)
        self._move(row, Event.REMOVED, now)
        self._placement.untrack(row)
        self._estimates.remove(row)
        self.health.remove(row)
        self._peers.forget(row)
        self._fleet.remove(row)
        self._ramping.discard(row)
        for memory in (self._weight, self._busy_cap, self._progress, self._started_at, self._unstated):
            memory.pop(row, None)

    def settle_all(self, now: float) -> None:
        """Complete the removals that waited for what other gateways had on the nodes."""
        for row in tuple(self._leaving):
            self.settle(row, now)

    def progress(self, row: int, now: float) -> None:
        """Tokens came from the node: a failing probe would only mean that it is busy."""
        self._progress[row] = now

    def ended(self, row: int, outcome: Outcome, now: float) -> None:
        """A real request on the node ended: what that says about it."""
        if outcome.verdict is Verdict.BUSY:
            self._busy(row, now)
        elif outcome.verdict in (Verdict.OK, Verdict.FAIL):
            event = self.health.served(row, outcome.verdict is Verdict.OK)
            if event is not None and not (event is Event.TRIPPED and self._must_stay(row)):
                self._move(row, event, now, outcome.reason)
        self.settle(row, now)

    def report(self, report: NodeReport, now: float) -> int | None:
        """A reading of a node; its row if it goes down by that. Unknown nodes are passed over: they may have left.

        A node that is well and lists no models stays joining: no request could go there.
        """
        row = self._fleet.row_of.get(report.node)
        if row is None:
            return None
        if report.ok:
            self._learn(row, report, now)
        elif now - self._progress.get(row, -1e9) < PROBE_SECONDS:
            return None
        self._fleet.columns.reported_load[row] = (report.load or 0.0) if report.ok else 1.0
        fit = report.ok and bool(self._fleet.models[row])
        if not fit:
            self._emit(ProbeFailed(now, report.node, self._fleet.states[row], report.reason or NO_MODELS))
        elif report.running is None and report.load is None:
            self._emit(LoadUnknown(now, report.node))
        event = self.health.probed(row, report.ok, now)
        if event is None or (event is Event.ADMITTED and not fit):
            return None
        moved = self._move(row, event, now, report.reason)
        return row if moved and self._fleet.states[row] is NodeState.DOWN else None

    def refresh(self, now: float) -> None:
        """Move the caps that follow the time, or the size of requests."""
        self._guess_slots(now)
        for row in (*self._ramping, *self._busy_cap):
            self._recap(row, now)

    def _learn(self, row: int, report: NodeReport, now: float) -> None:
        columns = self._fleet.columns
        spec = self._fleet.spec(row)
        if report.started_at is not None and self._started_at.setdefault(row, report.started_at) != report.started_at:
            self._started_at[row] = report.started_at
            self._placement.forget(row)
        if report.models is not None and not spec.models and frozenset(report.models) != self._fleet.models[row]:
            self._fleet.models[row] = frozenset(report.models)
            self._fleet.touch()
        self._learn_load(row, report)
        if _told(report.slots) and spec.slots is None and columns.slots[row] != report.slots:
            self._unstated.pop(row, None)
            columns.slots[row] = report.slots
            self._recap(row, now)
        self._learn_capacity(row, report)

    def _guess_slots(self, now: float) -> None:
        """Where nobody states them, slots are the requests of mean size that the node's KV memory holds."""
        mean = self._estimates.request_size.mean()
        if mean is None:
            return
        columns = self._fleet.columns
        for row, guessed_at in self._unstated.items():
            if abs(mean - guessed_at) <= GUESS_SHARE * mean:
                continue
            tokens = float(columns.kv_capacity[row] * columns.block_tokens[row])
            if tokens < inf:
                self._unstated[row] = mean
                columns.slots[row] = max(1.0, tokens // mean)
                self._recap(row, now)

    def _learn_load(self, row: int, report: NodeReport) -> None:
        columns = self._fleet.columns
        if report.running is not None:
            columns.reported_running[row] = report.running
        if report.waiting is not None:
            columns.reported_waiting[row] = report.waiting
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

    def _move(self, row: int, event: Event, now: float, reason: str = "") -> bool:
        """Apply the event; true if the node's state changed."""
        before = self.health.records[row].state
        if not self.health.on(row, event, now):
            return False
        after = self.health.records[row].state
        self._fleet.states[row] = after
        self._fleet.touch()
        if after is NodeState.DOWN:
            self._placement.forget(row)
            self._estimates.fell(row, now)
        elif after is NodeState.UP:
            self._ramping.add(row)
        self._recap(row, now)
        self._emit(NodeChanged(now, self._fleet.spec(row).name, before, after, event, reason))
        return True

    def _must_stay(self, row: int) -> bool:
        """Whether taking the node out would leave a model fewer than half of its nodes, or none."""
        fleet = self._fleet
        if self.health.on_trial(row):
            return False
        for model in fleet.models[row]:
            peers = fleet.serves(model)
            others = [peer for peer in peers if peer != row and fleet.states[peer] in IN_USE]
            if not others or 2 * len(others) < len(peers):
                return True
        return False

    def _busy(self, row: int, now: float) -> None:
        """Back-pressure: for a while the node holds no more than it has now."""
        held = max(1.0, float(self._fleet.columns.outstanding[row]))
        self._busy_cap[row] = (now + self._settings.busy_s, held)
        self._recap(row, now)

    def _recap(self, row: int, now: float) -> None:
        share = self.health.share(row, now)
        if share >= 1.0:
            self._ramping.discard(row)
        cap = max(1.0, float(self._fleet.columns.slots[row]) * self._weight[row] * share)
        until, held = self._busy_cap.get(row, (now, cap))
        if now >= until:
            self._busy_cap.pop(row, None)
        else:
            cap = min(cap, held)
        self._fleet.bounds.set_cap(row, 1.0 if self.health.on_trial(row) else cap)

    def _probe(self, which: tuple[int, int], now: float) -> None:
        row, generation = which
        if self._fleet.generation[row] != generation or self._fleet.specs[row] is None:
            return
        self._out.append(Probe(self._fleet.spec(row)))
        sure = self._fleet.states[row] in (NodeState.UP, NodeState.DRAINING)
        self._agenda.add(now + (PROBE_SECONDS if sure else PROBE_SECONDS_DOUBT), self._probe, which)


def _told(amount: int | None) -> TypeGuard[int]:
    """Whether a report says something usable: an engine that is starting may show 0 slots or blocks."""
    return amount is not None and amount > 0
