import pytest

from pointsman.brain.dispatcher import Dispatcher
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.reports import NodeReport
from pointsman.brain.model.request import Chain, Request
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.policies.registry import build
from pointsman.brain.policies.table import PolicyTable
from pointsman.observe.fleet_reading import FleetReading, read


def test_imbalance_is_the_deviation_of_load_over_nodes_in_use() -> None:
    fleet = FleetReading(nodes=("a", "b", "c"), states=("up", "suspect", "down"), columns={"load": (0.2, 0.6, 9.0)})
    assert fleet.imbalance() == pytest.approx(0.2)


def test_one_node_is_never_out_of_balance() -> None:
    assert FleetReading(nodes=("a",), states=("up",), columns={"load": (0.9,)}).imbalance() == 0.0


def test_a_dispatcher_is_read_node_by_node_without_the_removed_ones() -> None:
    dispatcher = Dispatcher(BrainSettings(), PolicyTable(build("least_requests")))
    for name in "abc":
        dispatcher.add_node(NodeSpec(url=f"http://{name}", id=name, models=("m",), slots=2, kv_tokens=3200), 0.0)
        dispatcher.report(NodeReport(node=name, ok=True), 0.0)
    dispatcher.report(NodeReport(node="c", ok=True, running=3, waiting=4, kv_usage=0.25), 0.0)
    dispatcher.remove_node("a", 0.0)
    for i in range(5):
        chain = Chain("bytes", [i * 10, i * 10 + 1], 64.0)
        dispatcher.submit(Request(id=f"r{i}", model="m", prompt_tokens=128.0, max_tokens=32, chain=chain), 1.0)
    reading = read(dispatcher, 3.5)
    assert reading.nodes == ["b", "c"]
    assert reading.states == ["up", "up"]
    assert reading.columns["outstanding"] == [2.0, 2.0]
    assert reading.columns["load"] == [1.0, 1.0]
    assert reading.panics == {"m": False}
    assert reading.columns["queue_growth"] == [0.0, 0.0]
    assert reading.columns["reported_running"] == [0.0, 3.0]
    assert reading.columns["reported_waiting"] == [0.0, 4.0]
    assert reading.columns["reported_kv_usage"] == [0.0, 0.25]
    assert reading.columns["cap"] == [2.0, 2.0]
    assert all(0.0 < share < 1.0 for share in reading.columns["kv_reserved"])
    assert reading.queues == {"m": 1}
    assert reading.oldest == {"m": 2.5}
    assert reading.index_entries == 8


def test_an_empty_fleet_can_be_read() -> None:
    assert read(Dispatcher(BrainSettings(), PolicyTable(build("least_requests"))), 0.0).nodes == []
