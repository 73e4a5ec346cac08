"""How many requests were on each node over time, worked out afterwards from when each came and went."""

import numpy as np
from numpy.typing import NDArray

from pointsman.observe.comparison import Window
from pointsman.observe.sampled import NOWHERE, Numbers, Sampled


def in_flight(samples: Sampled, placed_s: Numbers, edges: Numbers, nodes: int) -> Numbers:
    """Mean number of requests on each node between neighbouring `edges` (seconds), [nodes, len(edges) - 1].

    `placed_s`: when each was sent to its node, from which it is there until its end; NaN if it never was.
    """
    there = (samples.node != NOWHERE) & ~np.isnan(placed_s)
    begins, ends, node = placed_s[there], samples.done_s[there], samples.node[there]
    held = _elapsed(begins, node, edges, nodes) - _elapsed(ends, node, edges, nodes)
    return (held[:, 1:] - held[:, :-1]) / (edges[1:] - edges[:-1])


def _elapsed(moments: Numbers, node: NDArray[np.intp], edges: Numbers, nodes: int) -> Numbers:
    """Seconds that have gone by at each edge since the moments before it, added up by node, [nodes, edges]."""
    width = len(edges) + 1
    cell = node * width + np.searchsorted(edges, moments)
    count = np.bincount(cell, minlength=nodes * width).reshape(nodes, width).cumsum(axis=1)[:, :-1]
    total = np.bincount(cell, weights=moments, minlength=nodes * width).reshape(nodes, width).cumsum(axis=1)[:, :-1]
    elapsed: Numbers = count * edges - total
    return elapsed


def spread(load: Numbers) -> tuple[float | None, float | None]:
    """Standard deviation and coefficient of variation over nodes of `load` [nodes, bins], each a mean over the bins.

    Bins in which there was nothing on any node say nothing of balance, and are left out of the second.
    """
    if not load.size:
        return None, None
    deviation, level = load.std(axis=0), load.mean(axis=0)
    busy = level > 0
    return float(deviation.mean()), float((deviation[busy] / level[busy]).mean()) if busy.any() else None


def bins(window: Window, count: int) -> Numbers:
    """Edges of `count` equal parts of the window."""
    return np.linspace(window.start_s, window.end_s, count + 1)
