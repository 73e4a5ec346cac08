"""A node's health as a table of states and events.

Strategy: everything that happens to a node becomes one of a few events; the table says where it goes. An event that
the table does not name for a state changes nothing. Passive evidence (requests that failed) trips a node after a run
of failures or a bad share of recent ones; active probes make it suspect. A tripped node stays out for a time that grows
with each trip and is never shortened, then waits for a good probe, and comes back only through one real request: while
it is joining after a fall its cap is one, and its first token or success lets it up, from where it ramps. So does a
drained node, which is tried in the same way first unless its last probe was good. Time spent up forgives trips. The
times out of nodes that fell together are spread by a draw, so that they do not come back together.
"""

from collections import deque
from enum import StrEnum
from typing import Final

from pointsman.brain.model.draw import draw, unit
from pointsman.brain.model.node import NodeState
from pointsman.brain.model.settings import BrainSettings

RECENT: Final = 20
"""Outcomes remembered per node."""
RECENT_MIN: Final = 5
"""Fewest outcomes whose share of failures is believed."""
PROBE_FAILS: Final = 2
"""Failed probes in a row that make a node suspect, and a suspect one down."""
PROBE_LAGS: Final = 2
"""Probes in a row that came back, but abnormally late, that make a node suspect."""
JITTER: Final = 0.2
"""Times out are drawn from this share around what is due."""
LEAST_RAMP: Final = 0.1
"""Part of its concurrency that a node starts with when it is back, and all that one that is down gets in panic."""


_IN_DOUBT: Final = (NodeState.JOINING, NodeState.SUSPECT)


class Event(StrEnum):
    """What can happen to a node."""

    ADMITTED = "admitted"  # a new node answered its first probe
    RETURNABLE = "returnable"  # time out is over and a probe succeeded
    PROBED_WELL = "probed_well"
    PROBED_BADLY = "probed_badly"  # PROBE_FAILS failures in a row
    PROBED_LATE = "probed_late"  # PROBE_LAGS abnormal delays in a row, or one that ended in a failure
    SERVED = "served"  # a real request went well, or its first token came
    TRIPPED = "tripped"  # too many real requests failed, or the trial one
    DRAINED = "drain"
    UNDRAINED = "undrain"  # its last probe was good
    UNDRAINED_IN_DOUBT = "undrain_in_doubt"  # its last probe was not
    REMOVED = "removed"


S, E = NodeState, Event
MOVES: dict[tuple[NodeState, Event], NodeState] = {
    (S.JOINING, E.ADMITTED): S.UP,
    (S.JOINING, E.SERVED): S.UP,
    (S.JOINING, E.TRIPPED): S.DOWN,
    (S.JOINING, E.PROBED_BADLY): S.DOWN,
    (S.UP, E.PROBED_BADLY): S.SUSPECT,
    (S.UP, E.PROBED_LATE): S.SUSPECT,
    (S.UP, E.TRIPPED): S.DOWN,
    (S.SUSPECT, E.PROBED_WELL): S.UP,
    (S.SUSPECT, E.SERVED): S.UP,
    (S.SUSPECT, E.PROBED_BADLY): S.DOWN,
    (S.SUSPECT, E.TRIPPED): S.DOWN,
    (S.DOWN, E.RETURNABLE): S.JOINING,
    (S.DRAINING, E.UNDRAINED): S.UP,
    (S.DRAINING, E.UNDRAINED_IN_DOUBT): S.JOINING,
    **{(state, E.DRAINED): S.DRAINING for state in (S.JOINING, S.UP, S.SUSPECT, S.DOWN)},
    **{(state, E.REMOVED): S.GONE for state in S if state is not S.GONE},
}
"""The whole life of a node. The diagram in the docs is drawn from it."""


class Record:
    """What is remembered of one node's behaviour. Times in seconds. `new` until it first was up or down.

    `identity` tells the node's draws from others'; `falls` counts all its falls, `trips` those not forgiven.
    """

    __slots__ = (
        "changed_at",
        "fails_in_a_row",
        "falls",
        "identity",
        "new",
        "out_until",
        "probe_fails",
        "probe_lags",
        "probed_well",
        "ramping",
        "recent",
        "state",
        "trips",
        "up_since",
    )

    def __init__(self, identity: int, changed_at: float) -> None:
        self.identity = identity
        self.state = NodeState.JOINING
        self.changed_at = changed_at
        self.new = True
        self.fails_in_a_row = 0
        self.recent: deque[bool] = deque(maxlen=RECENT)
        self.probe_fails = 0
        self.probe_lags = 0
        self.probed_well = False
        self.falls = 0
        self.trips = 0
        self.out_until = 0.0
        self.up_since = 0.0
        self.ramping = False


class Health:
    """Records per fleet row, moved by events. Pure: the dispatcher carries the new states to the fleet."""

    def __init__(self, settings: BrainSettings) -> None:
        self._settings = settings
        self.records: dict[int, Record] = {}

    def configure(self, settings: BrainSettings) -> None:
        """Go by `settings` from now on; who is out already stays as long as was said."""
        self._settings = settings
        if not settings.slow_start_s:
            for record in self.records.values():
                record.ramping = False

    def add(self, row: int, identity: int, now: float) -> None:
        """A new node takes the row: joining, with no past. `identity` is a whole number of its own."""
        self.records[row] = Record(identity, now)

    def remove(self, row: int) -> None:
        """The node has left."""
        del self.records[row]

    def on(self, row: int, event: Event, now: float) -> bool:
        """Apply `event`; true if the state changed."""
        record = self.records[row]
        after = MOVES.get((record.state, event))
        if after is None or after is record.state:
            return False
        before, record.state = record.state, after
        record.changed_at = now
        if after is NodeState.DOWN:
            self._go_down(record, before, now)
        elif after is NodeState.UP:
            self._come_up(record, before, now)
        return True

    def served(self, row: int, well: bool) -> Event | None:
        """A real request ended: the event that follows from it, if any."""
        record = self.records[row]
        record.recent.append(well)
        record.fails_in_a_row = 0 if well else record.fails_in_a_row + 1
        if well:
            return Event.SERVED if record.state in _IN_DOUBT else None
        on_trial = record.state is NodeState.JOINING
        return Event.TRIPPED if on_trial or self._too_many(record) else None

    def first_token(self, row: int) -> Event | None:
        """A real request began to be answered: that lets a node on trial, or a suspect one, up."""
        record = self.records[row]
        if record.state not in _IN_DOUBT:
            return None
        return Event.SERVED if record.state is NodeState.SUSPECT or self.on_trial(row) else None

    def probed(self, row: int, well: bool, now: float, *, late: bool = False) -> Event | None:
        """A probe ended, perhaps abnormally `late`: the event that follows from it, if any."""
        record = self.records[row]
        record.probed_well = well
        record.probe_fails = 0 if well else record.probe_fails + 1
        record.probe_lags = record.probe_lags + 1 if late else 0
        if not well:
            return self._probe_failed(record, late)
        if record.state is NodeState.DOWN:
            return Event.RETURNABLE if now >= record.out_until else None
        if record.state is NodeState.JOINING:
            return Event.ADMITTED if record.new else None
        if late:
            return Event.PROBED_LATE if record.probe_lags >= PROBE_LAGS else None
        return Event.PROBED_WELL

    def in_doubt(self, row: int) -> bool:
        """Whether the node's next probe should come soon: it is not simply up, or something was wrong of late."""
        record = self.records[row]
        if record.state not in (NodeState.UP, NodeState.DRAINING):
            return True
        return bool(record.probe_fails or record.probe_lags or record.fails_in_a_row)

    def undrained(self, row: int) -> Event:
        """The node shall work again: whether it comes up at once or has to be tried first."""
        return Event.UNDRAINED if self.records[row].probed_well else Event.UNDRAINED_IN_DOUBT

    def ramp(self, row: int, now: float) -> float:
        """The part of its concurrency a node may fill: LEAST_RAMP to 1 over the slow start after its return.

        A node that is down may fill the least, in case all others are no better. Ends a ramp that is over.
        """
        record = self.records[row]
        if record.state is NodeState.DOWN:
            return LEAST_RAMP
        if not record.ramping:
            return 1.0
        part = LEAST_RAMP + (1.0 - LEAST_RAMP) * (now - record.up_since) / self._settings.slow_start_s
        record.ramping = part < 1.0
        return min(1.0, part)

    def on_trial(self, row: int) -> bool:
        """Whether the node is back from a fall and may hold one request only."""
        record = self.records[row]
        return record.state is NodeState.JOINING and not record.new

    def _probe_failed(self, record: Record, late: bool) -> Event | None:
        """A probe that failed and was late as well is two bad signs: an answer that does not come at all."""
        if late and record.state is NodeState.UP:
            record.probe_fails = 0
            return Event.PROBED_LATE
        if record.probe_fails < PROBE_FAILS:
            return None
        record.probe_fails = 0
        return Event.PROBED_BADLY

    def _too_many(self, record: Record) -> bool:
        if record.fails_in_a_row >= self._settings.fails_in_a_row:
            return True
        if len(record.recent) < RECENT_MIN:
            return False
        return 1.0 - sum(record.recent) / len(record.recent) >= self._settings.fail_share

    def _go_down(self, record: Record, before: NodeState, now: float) -> None:
        if before is not NodeState.JOINING:
            record.trips -= min(record.trips, int((now - record.up_since) / self._settings.ejection_cap_s))
        record.trips += 1
        record.falls += 1
        record.out_until = max(record.out_until, now + self._time_out(record))
        self._start_over(record)

    def _time_out(self, record: Record) -> float:
        """Seconds out: a step more with each trip, +- JITTER, at most the cap."""
        drawn = unit(draw(self._settings.seed ^ record.identity, record.falls))
        around = 1.0 + JITTER * (2.0 * drawn - 1.0)
        return min(self._settings.ejection_cap_s, self._settings.ejection_s * record.trips * around)

    def _come_up(self, record: Record, before: NodeState, now: float) -> None:
        if before is NodeState.SUSPECT:
            return
        record.up_since = now
        record.ramping = not record.new and self._settings.slow_start_s > 0.0
        self._start_over(record)

    def _start_over(self, record: Record) -> None:
        record.new = False
        record.recent.clear()
        record.fails_in_a_row = 0
