"""The fleet at one moment, as whoever shows it needs it."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

IN_USE = ("up", "suspect")


class FleetReading(msgspec.Struct, frozen=True, kw_only=True):
    """Names, states and quantities, one entry a node and in the same order; shares are 0..1.

    `columns` holds whatever quantities the reader has, under the names of `families.PER_NODE`; `queues` the waiting
    requests per model; `index_entries` the prefix blocks known.
    """

    nodes: Sequence[str] = ()
    states: Sequence[str] = ()
    columns: Mapping[str, Sequence[float] | Any] = {}
    queues: Mapping[str, int] = {}
    index_entries: int = 0

    def imbalance(self) -> float:
        """Standard deviation of load over the nodes that take work; 0 for fewer than two."""
        loads = [float(x) for x, s in zip(self.columns.get("load", ()), self.states, strict=False) if s in IN_USE]
        if len(loads) < 2:
            return 0.0
        mean = sum(loads) / len(loads)
        return float((sum((x - mean) ** 2 for x in loads) / len(loads)) ** 0.5)
