"""Requests on nodes over time."""

import numpy as np
import pytest

from pointsman.observe.comparison import Sample, Window
from pointsman.observe.sampled import Sampled
from pointsman.sim.occupancy import bins, in_flight, spread

NODES = ("a", "b")


def loads(*placed: tuple[str, float, float], edges: tuple[float, ...]) -> list[list[float]]:
    """Of requests (node, placed, done)."""
    samples = Sampled.of([Sample(0.0, None, done, True, node=node) for node, _, done in placed], NODES)
    return in_flight(samples, np.array([at for _, at, _ in placed]), np.array(edges), len(NODES)).tolist()


def test_a_request_counts_for_the_share_of_a_bin_it_was_there() -> None:
    assert loads(("a", 1.5, 3.5), ("a", 2.0, 3.0), ("b", 0.0, 9.0), edges=(1.0, 2.0, 3.0, 4.0)) == [
        pytest.approx([0.5, 2.0, 0.5]),
        pytest.approx([1.0, 1.0, 1.0]),
    ]


def test_who_was_never_on_a_node_is_on_none() -> None:
    assert loads(("", np.nan, 3.0), ("a", np.nan, 3.0), edges=(0.0, 5.0)) == [[0.0], [0.0]]


def test_spread_is_over_the_nodes_and_a_mean_over_time() -> None:
    deviation, variation = spread(np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 0.0]]))
    assert (deviation, variation) == (pytest.approx(1 / 3), pytest.approx(0.5))
    assert spread(np.zeros((2, 3))) == (0.0, None)
    assert spread(np.zeros((2, 0))) == (None, None)


def test_bins_cover_the_window() -> None:
    assert bins(Window(10.0, 20.0), 4).tolist() == [10.0, 12.5, 15.0, 17.5, 20.0]
