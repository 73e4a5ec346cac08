"""How a run divided its service between two tenants while both had something waiting.

Service is what the Virtual Token Counter counts (`brain/admission/fairness.py`): prompt tokens that were computed, when
the request was placed, and output tokens twice, spread evenly from the first to the last. Only time in which a request
of either waits says anything: who asks for nothing has no claim. It is looked at every `STEP_S`.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from pointsman.brain.admission.fairness import service
from pointsman.observe.comparison import Window
from pointsman.observe.sampled import Flags, Numbers
from pointsman.sim.record import Record
from pointsman.sim.recorded import Recorded

STEP_S = 0.1


class Division:
    """What two tenants got. Both figures are None unless there are two, and both waited at some time of the window."""

    def __init__(self, records: Sequence[Record], window: Window) -> None:
        sent = Counter(record.tenant for record in records)
        tenants = sorted(sent, key=lambda name: (sent[name], name))
        self._moments = np.arange(window.start_s, window.end_s, STEP_S)
        self._served: tuple[Numbers, ...] = ()
        self._both = np.zeros(len(self._moments), dtype=np.bool_)
        if len(tenants) == 2:
            each = [Recorded.of_records([one for one in records if one.tenant == name], ()) for name in tenants]
            self._served = tuple(_served(rows, self._moments) for rows in each)
            self._both = _waits(each[0], self._moments) & _waits(each[1], self._moments)

    def widest_gap(self) -> float | None:
        """The most that one had more than the other over any time in which both waited, in tokens of service."""
        if not self._both.any():
            return None
        ahead = self._served[0] - self._served[1]
        edges = np.flatnonzero(np.diff(self._both)) + 1
        whiles = [part for part in np.split(np.arange(len(ahead)), edges) if self._both[part[0]]]
        return max(float(np.ptp(ahead[part])) for part in whiles)

    def lesser_share(self) -> float | None:
        """The share of all service, while both waited, of the one that sent fewer requests."""
        lasting = self._both[1:] & self._both[:-1]
        gained = [float(np.diff(served)[lasting].sum()) for served in self._served]
        return gained[0] / sum(gained) if sum(gained) else None


def _served(rows: Recorded, moments: Numbers) -> Numbers:
    """Service of these requests up to each moment."""
    placed = rows.only(~np.isnan(rows.placed_s))
    order = np.argsort(placed.placed_s, kind="stable")
    computed = service(1.0, 0.0) * np.cumsum((placed.prompt_tokens - placed.cached_tokens)[order])
    prompts = np.append(0.0, computed)[np.searchsorted(placed.placed_s[order], moments, side="right")]
    return prompts + service(0.0, 1.0) * _made(placed.only(~np.isnan(placed.first_s)), moments)


def _made(rows: Recorded, moments: Numbers) -> Numbers:
    """Output tokens up to each moment: rates change as answers begin and end, so their sum runs in straight lines."""
    if not len(rows):
        return np.zeros(len(moments))
    last = np.maximum(rows.done_s, rows.first_s + STEP_S)  # an answer of one token has no length
    rate = rows.output_tokens / (last - rows.first_s)
    times, changes = np.concatenate([rows.first_s, last]), np.concatenate([rate, -rate])
    order = np.argsort(times, kind="stable")
    times, rates = times[order], np.cumsum(changes[order])
    until = np.append(0.0, np.cumsum(rates[:-1] * np.diff(times)))
    made: Numbers = np.interp(moments, times, until)
    return made


def _waits(rows: Recorded, moments: Numbers) -> Flags:
    """Whether one of these requests waits for its first place, at each moment."""
    left = np.where(np.isnan(rows.waited_s), rows.done_s, rows.sent_s + rows.waited_s)
    sent = np.searchsorted(np.sort(rows.sent_s), moments, side="right")
    waiting: Flags = sent > np.searchsorted(np.sort(left), moments, side="right")
    return waiting
