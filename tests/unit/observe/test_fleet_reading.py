import pytest

from pointsman.observe.fleet_reading import FleetReading


def test_imbalance_is_the_deviation_of_load_over_nodes_in_use() -> None:
    fleet = FleetReading(nodes=("a", "b", "c"), states=("up", "suspect", "down"), columns={"load": (0.2, 0.6, 9.0)})
    assert fleet.imbalance() == pytest.approx(0.2)


def test_one_node_is_never_out_of_balance() -> None:
    assert FleetReading(nodes=("a",), states=("up",), columns={"load": (0.9,)}).imbalance() == 0.0
