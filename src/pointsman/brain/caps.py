"""How many requests each node may hold now.

    cap = slots x weight x ramp, but 1 on trial and, for a while after back-pressure, no more than it held then

Strategy: everything that makes a node take less ends up in this one figure, so every policy feels it. It is written
when something it follows from changes; only the rows whose cap moves with time are renewed.
"""

from pointsman.brain.fleet import Fleet
from pointsman.brain.life.health import Health
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

    def configure(self, settings: BrainSettings) -> None:
        """Go by `settings` from now on."""
        self._settings = settings

    def add(self, row: int, weight: float) -> None:
        """A new node that may fill `weight` of its slots."""
        self._weight[row] = weight

    def remove(self, row: int) -> None:
        """The node has left."""
        del self._weight[row]
        self._busy.pop(row, None)
        self._ramping.discard(row)

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
        for row in (*self._ramping, *self._busy):
            self.renew(row, now)

    def renew(self, row: int, now: float) -> None:
        """Something the row's cap follows from has changed."""
        if self._health.on_trial(row):
            self._fleet.bounds.set_cap(row, 1.0)
            return
        share = self._health.share(row, now)
        if share >= 1.0:
            self._ramping.discard(row)
        cap = max(1.0, float(self._fleet.columns.slots[row]) * self._weight[row] * share)
        until, held = self._busy.get(row, (now, cap))
        if now >= until:
            self._busy.pop(row, None)
        else:
            cap = min(cap, held)
        self._fleet.bounds.set_cap(row, cap)
