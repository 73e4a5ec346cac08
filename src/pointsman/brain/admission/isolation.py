"""Long contexts apart: nodes reserved for them, and how many may run at a time.

A prompt of 100,000 tokens takes a node for seconds, and whoever is behind it waits. So prompts of `long_context_tokens`
and more go to the nodes named for them only, which others use as the settings say; where none of those nodes is in use,
or no others are, there is nothing to keep apart and everyone goes anywhere. Limits on how many long ones run, per node
and in all, hold in any case.
"""

from collections import Counter

import numpy as np

from pointsman.brain.fleet import Fleet
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.model.view import Flags, Rows


class Isolation:
    """Which nodes a prompt may use by its length; `on` tells whether that matters at all.

    Mutated as leases of long prompts come and go.
    """

    def __init__(self, settings: BrainSettings, fleet: Fleet) -> None:
        self._fleet = fleet
        self.configure(settings)
        self._row_of: dict[int, int] = {}
        self._running: Counter[int] = Counter()

    def configure(self, settings: BrainSettings) -> None:
        """Go by `settings` from now on."""
        self._settings = settings
        self.on = settings.long_context_tokens > 0

    def long(self, prompt_tokens: float) -> bool:
        """Whether such a prompt counts as long."""
        return 0 < self._settings.long_context_tokens <= prompt_tokens

    def among(self, rows: Rows, in_use: Rows, prompt_tokens: float) -> Rows:
        """Those of `rows` that such a prompt may use; `in_use` are all nodes in use for its model."""
        reserved = [self._fleet.row_of.get(name, -1) for name in self._settings.long_context_nodes]
        set_apart = np.isin(in_use, reserved)
        apart = bool(set_apart.any()) and not bool(set_apart.all())
        if self.long(prompt_tokens):
            return self._with_room(rows[np.isin(rows, reserved)] if apart else rows)
        return rows[~np.isin(rows, reserved) | self._lent(rows)] if apart else rows

    def begun(self, lease: int, row: int, prompt_tokens: float) -> None:
        """A lease began on the node at `row`."""
        if self.long(prompt_tokens):
            self._row_of[lease] = row
            self._running[row] += 1

    def ended(self, lease: int) -> None:
        """A lease ended. Repeating is harmless."""
        row = self._row_of.pop(lease, None)
        if row is not None:
            self._running[row] -= 1
            if not self._running[row]:
                del self._running[row]

    def at_rest(self) -> bool:
        """Whether no long prompt runs."""
        return not self._row_of and not self._running

    def _with_room(self, rows: Rows) -> Rows:
        settings = self._settings
        if settings.long_context_requests and len(self._row_of) >= settings.long_context_requests:
            return rows[:0]
        if not settings.long_context_per_node:
            return rows
        room = [self._running[row] < settings.long_context_per_node for row in rows.tolist()]
        return rows[np.array(room, dtype=np.bool_)]

    def _lent(self, rows: Rows) -> Flags:
        """Which nodes others may use although they are reserved."""
        if self._settings.short_on_long_nodes == "never":
            return np.zeros(len(rows), dtype=np.bool_)
        idle: Flags = self._fleet.table.outstanding[rows] == 0.0
        return idle
