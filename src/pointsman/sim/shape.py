"""What figures are drawn from, without the requests themselves: of any run the same few kilobytes."""

from collections.abc import Sequence

import msgspec
import numpy as np

from pointsman.observe.sampled import Numbers
from pointsman.sim.occupancy import in_flight
from pointsman.sim.record import Record
from pointsman.sim.recorded import Recorded
from pointsman.sim.summary import Terms

TTFT_EDGES: Numbers = np.geomspace(1e-3, 1e5, 401)
"""Seconds: 50 classes a decade, so a curve is right within 5 %."""
TIME_BINS = 60


class Shape(msgspec.Struct, frozen=True):
    """`ttft`: streams by time to first token, in classes between `TTFT_EDGES`, what is outside in the outermost.

    `load`: mean number of requests on each node, in `TIME_BINS` equal parts of the run's `seconds`.
    """

    ttft: tuple[int, ...]
    load: tuple[tuple[float, ...], ...]
    seconds: float


def shape_of(records: Sequence[Record], terms: Terms, seconds: float) -> Shape:
    """The shape of a run that sent for so many `seconds`; first tokens are those of the window."""
    rows = Recorded.of_records(records, terms.nodes)
    waits = rows.ttft_s[rows.streamed & rows.sent_in(terms.window)]
    counts, _ = np.histogram(np.clip(waits, TTFT_EDGES[0], TTFT_EDGES[-1]), TTFT_EDGES)
    load = in_flight(rows, rows.placed_s, np.linspace(0.0, seconds, TIME_BINS + 1), len(terms.nodes))
    return Shape(tuple(counts.tolist()), tuple(tuple(row) for row in load.tolist()), seconds)
