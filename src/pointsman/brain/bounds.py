"""How many requests a node may hold, and how many of them this gateway may place before it hears of the others again.

Strategy: gateways before the same nodes tell each other what they have booked, a few times a second. What they tell
is gathered into rounds, and a round is the same sum for all. Of the room it shows, each may take its share,

    bound = min(cap, known + max(1, ⌊(⌈cap⌉ − known) / gateways⌋)),

`known` being the round's sum. So while all go by the same round, they exceed a cap by less than one request each
(and by none where the room is at least one each), whatever they place meanwhile. While a round is on its way, those
who have it may have a share of its room besides the share of the last that the others still have: at most a quarter
of the room that the earlier round showed. Telling lowers `known` to what is outstanding: room that one has
said to be free is no longer one's own.

Where others wait for a full node, one that holds more than an equal part of it does not refill what it frees: else a
gateway that takes its own freed room at once would never leave any to them. A trial is each gateway's own: the one
request it may place there is besides what others, who have found the node well, have there. Alone, a gateway's bound
is the cap.
"""

from array import array
from collections.abc import Sequence

import numpy as np

from pointsman.brain.model.view import Floats


class Bounds:
    """One entry a fleet row, in requests; arrays are mutated in place and only here.

    `cap` is what the row may hold now, `bound` what may be outstanding there as far as this gateway is concerned;
    `bound_cells` are the same cells as `bound`, to be read one by one.
    """

    def __init__(self, capacity: int) -> None:
        self.gateways = 1
        self.cap: Floats = np.zeros(capacity)
        self.bound_cells = array("d", bytes(8 * capacity))
        self.bound: Floats = np.frombuffer(self.bound_cells)
        self._known: Floats = np.zeros(capacity)
        self._elsewhere: Floats = np.zeros(capacity)
        self._waiting: Floats = np.zeros(capacity)
        self._on_trial = np.zeros(capacity, dtype=bool)

    def set_cap(self, row: int, cap: float, *, on_trial: bool = False) -> None:
        """The row may hold `cap` requests from now on; `on_trial`, so many of this gateway's own."""
        self.cap[row] = cap
        self._on_trial[row] = on_trial
        self._rebound(slice(row, row + 1))

    def clear(self, row: int) -> None:
        """The row's node is gone, and what was known of it."""
        for column in (self.cap, self.bound, self._known, self._elsewhere, self._waiting):
            column[row] = 0.0
        self._on_trial[row] = False

    def hear(self, row: int, elsewhere: float, told: float) -> None:
        """A round counts `elsewhere` requests of others on the row, and `told` of ours. `renew` puts it to use."""
        self._elsewhere[row] = elsewhere
        self._known[row] = elsewhere + told

    def renew(self, gateways: int, waiting: Sequence[float]) -> None:
        """A round was heard whole: so many gateways share the rows; `waiting` others wait for each of the first."""
        self.gateways = gateways
        rows = slice(len(waiting))
        self._waiting[rows] = waiting
        self._rebound(rows)

    def told(self, outstanding: Floats) -> None:
        """The others are being told; `outstanding` are the requests on the first rows, those of others included."""
        rows = slice(len(outstanding))
        np.minimum(self._known[rows], outstanding, out=self._known[rows])
        self._rebound(rows)

    def _rebound(self, rows: slice) -> None:
        if self.gateways == 1:
            self.bound[rows] = self.cap[rows]
            return
        whole = np.ceil(self.cap[rows])
        known = self._known[rows]
        shared = known + np.maximum((whole - known) // self.gateways, 1.0)
        equal_part = self._elsewhere[rows] + np.maximum(whole // (1.0 + self._waiting[rows]), 1.0)
        bound = np.minimum(np.minimum(shared, equal_part), self.cap[rows])
        self.bound[rows] = np.where(self._on_trial[rows], self._elsewhere[rows] + self.cap[rows], bound)
