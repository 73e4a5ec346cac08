"""How many requests each node may hold now.

    cap = slots x weight x ramp x share, but 1 on trial and, for a while after back-pressure, no more than it held then

A node whose share is lowered holds no more than its peers do on average, either. By Little's law that is what gives it
the share where nodes are far from full: holding as much at a fifth of the speed, it gets a fifth of the requests.

Strategy: everything that makes a node take less ends up in this one figure, so every policy feels it. It is written
when something it follows from changes; only the rows whose cap moves with time are renewed.
"""

from collections.abc import Mapping

from pointsman.brain.fleet import Fleet
from pointsman.brain.life.health import Health
from pointsman.brain.life.share import Shares
from pointsman.brain.model.settings import BrainSettings


class Caps:
    """Writes the caps of `fleet.bounds`. Times in seconds."""

    def __init__(self, settings: BrainSettings, fleet: Fleet, health: Health) -> None:
        self._settings = settings
        self._fleet = fleet
        self._health = health
        self._weight: dict[int, float] = {}
        self._busy: dict[int, tuple[float, float]] = {}
        self._ramping: set[int] = set()
        self._shares = Shares()

    def configure(self, settings: BrainSettings) -> None:
        """Go by `settings` from now on."""
        self._settings = settings

    def add(self, row: int, weight: float) -> None:
        """A new node that may fill `weight` of its slots."""
        self._weight[row] = weight
        self._fleet.share[row] = 1.0

    def remove(self, row: int) -> None:
        """The node has left."""
        del self._weight[row]
        self._busy.pop(row, None)
        self._ramping.discard(row)
        self._shares.forget(row)
        self._fleet.share[row] = 0.0

    def set_weight(self, row: int, weight: float, now: float) -> None:
        """The share of its slots the node may fill. Raises ValueError unless above 0."""
        if not weight > 0.0:
            raise ValueError(f"weight must be above 0, not {weight}")
        self._weight[row] = weight
        self.renew(row, now)

    def busy(self, row: int, now: float) -> None:
        """Back-pressure: for a while the node holds no more than it has now."""
        held = max(1.0, float(self._fleet.columns.outstanding[row]))
        self._busy[row] = (now + self._settings.busy_s, held)
        self.renew(row, now)

    def returned(self, row: int, now: float) -> None:
        """The node came up: its cap may follow the time from now on."""
        self._ramping.add(row)
        self.renew(row, now)

    def refresh(self, now: float) -> None:
        """Move the caps that follow the time."""
        if self._ramping or self._busy or self._shares:
            for row in (*self._ramping, *self._busy, *self._shares.lowered):
                self.renew(row, now)

    def lower(self, excess: Mapping[int, float], elapsed: float, now: float) -> None:
        """Let the shares follow how much worse (logarithm) nodes are than their peers, `elapsed` seconds later."""
        before = self._shares.lowered
        self._shares.renew(excess, elapsed / max(elapsed, self._settings.slow_start_s))
        for row in {*before, *self._shares.lowered}:
            self.renew(row, now)

    def renew(self, row: int, now: float) -> None:
        """Something the row's cap follows from has changed."""
        if self._health.on_trial(row):
            self._fleet.bounds.set_cap(row, 1.0, on_trial=True)
            return
        ramp = self._health.ramp(row, now)
        if ramp >= 1.0:
            self._ramping.discard(row)
        cap = float(self._fleet.columns.slots[row]) * self._weight[row] * ramp
        cap = max(1.0, self._lowered(row, cap))
        until, held = self._busy.get(row, (now, cap))
        if now >= until:
            self._busy.pop(row, None)
        else:
            cap = min(cap, held)
        self._fleet.bounds.set_cap(row, cap)

    def _lowered(self, row: int, cap: float) -> float:
        """The cap under the row's share; in full where the row is the last that some model has."""
        share = self._shares.of(row)
        peers = self._peers(row) if share < 1.0 else []
        if not peers:
            self._fleet.share[row] = 1.0
            return cap
        self._fleet.share[row] = share
        outstanding = self._fleet.cells.outstanding
        return min(cap * share, sum([outstanding[peer] for peer in peers]) / len(peers))

    def _peers(self, row: int) -> list[int]:
        """The other nodes in use for the row's models; none if it is the last for one of them."""
        others = [
            [peer for peer in self._fleet.found(model).listed if peer != row] for model in self._fleet.models[row]
        ]
        if len(others) == 1:
            return others[0]
        return list(set().union(*others)) if all(others) else []
