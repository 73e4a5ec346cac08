"""Records of a simulated run as columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pointsman.observe.sampled import Numbers, Sampled
from pointsman.sim.record import Record


@dataclass(frozen=True, slots=True)
class Recorded(Sampled):
    """What only a simulator knows of each request, besides. NaN where the record has None."""

    placed_s: Numbers
    waited_s: Numbers
    gap_s: Numbers
    tries: NDArray[np.intp]
    interruptions: NDArray[np.intp]
    dialogue: NDArray[np.intp]

    @classmethod
    def of_records(cls, records: Sequence[Record], nodes: Sequence[str]) -> Recorded:
        """The columns of `records`."""
        base = Sampled.of(records, nodes)
        shared: dict[str, Any] = {field.name: getattr(base, field.name) for field in fields(base)}
        return cls(
            **shared,
            placed_s=np.array([one.placed_s for one in records], dtype=float),
            waited_s=np.array([one.waited_s for one in records], dtype=float),
            gap_s=np.array([one.gap_s for one in records], dtype=float),
            tries=np.array([one.tries for one in records], dtype=np.intp),
            interruptions=np.array([one.interruptions for one in records], dtype=np.intp),
            dialogue=np.array([one.dialogue for one in records], dtype=np.intp),
        )
