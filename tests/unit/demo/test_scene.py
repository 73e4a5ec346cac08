"""The stage: capacities include the fault, and engines get the speeds announced."""

import pytest

from pointsman.demo.scene import MEMORY_TIGHT, SCENE, SCENES, Fault, Node, Scene


def test_a_fault_costs_capacity_in_proportion_to_its_length():
    scene = Scene((Node("a", 1.0), Node("b", 0.5)), Fault("a", 4.0, 0.2, 0.6), 0.1)
    assert scene.capacity() == pytest.approx({"a": 1 - 0.4 * 0.75, "b": 0.5})


def test_the_fleet_is_uneven_and_a_fast_node_degrades():
    speeds = {node.name: node.speed for node in SCENE.nodes}
    assert sorted(speeds.values()) == pytest.approx([1 / 3, 1 / 3, 1, 1])
    assert speeds[SCENE.fault.node] == 1.0
    assert SCENE.warm_up < SCENE.fault.begins < SCENE.fault.ends < 1


def test_an_engine_takes_its_node_s_speed():
    engine = Node("slow", 1 / 3).engine(port=7, time_scale=10.0)
    assert (engine.port, engine.time_scale) == (7, 10.0)
    assert engine.speed == pytest.approx(1 / 3, abs=1e-5)


def test_memory_is_what_the_tight_fleet_lacks():
    assert MEMORY_TIGHT.capacity() == {node.name: 1.0 for node in MEMORY_TIGHT.nodes}
    engine = MEMORY_TIGHT.nodes[0].engine()
    longest = MEMORY_TIGHT.clients.output.most
    assert engine.kv_blocks * engine.block_size < 4 * longest
    assert {*SCENES} == {"uneven", "memory-tight"}
    assert all(SCENES[name].name == name for name in SCENES)
