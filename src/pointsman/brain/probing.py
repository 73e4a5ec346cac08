"""When each node is asked how it is: every ten seconds, every two while it is in doubt.

A node comes into doubt between two probes, by a request that failed or by the probe itself; then the next one is
brought forward, so that a node that hangs is found within two probes and one that heals within seconds.
"""

from pointsman.brain.agenda import Agenda
from pointsman.brain.fleet import Fleet
from pointsman.brain.life.health import Health
from pointsman.brain.model.orders import Order, Probe

PROBE_SECONDS = 10.0
PROBE_SECONDS_DOUBT = 2.0
"""Spacing of probes of a node that is up, and of one in doubt."""


class Probing:
    """Puts probe orders in `out`. What is entered in the agenda is void once another time is set for its row."""

    def __init__(self, fleet: Fleet, health: Health, agenda: Agenda, out: list[Order]) -> None:
        self._fleet = fleet
        self._health = health
        self._agenda = agenda
        self._out = out
        self._next: dict[int, float] = {}
        self._asked: dict[int, float] = {}

    def start(self, row: int, now: float) -> None:
        """A new node: ask at once."""
        self._next[row] = now
        self._probe((row, now), now)

    def forget(self, row: int) -> None:
        """The node has left."""
        self._next.pop(row, None)
        self._asked.pop(row, None)

    def heed(self, row: int, now: float) -> None:
        """Something was heard of the node: if that puts it in doubt, its next probe comes soon."""
        soon = max(now, self._asked[row] + PROBE_SECONDS_DOUBT)
        if self._next[row] > soon and self._health.in_doubt(row):
            self._set(row, soon)

    def _probe(self, which: tuple[int, float], now: float) -> None:
        row, due = which
        if self._next.get(row) != due:
            return
        self._asked[row] = now
        self._out.append(Probe(self._fleet.spec(row)))
        self._set(row, now + (PROBE_SECONDS_DOUBT if self._health.in_doubt(row) else PROBE_SECONDS))

    def _set(self, row: int, due: float) -> None:
        self._next[row] = due
        self._agenda.add(due, self._probe, (row, due))
