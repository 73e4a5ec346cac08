"""The plan: how much load is right for the fleet, on the very workload."""

import pytest

from pointsman.config.demo import DemoConfig
from pointsman.demo.plan import load_of, planned, policies_of, scene_saturation, time_scale_for
from pointsman.demo.scene import MEMORY_TIGHT, SCENE, Fault, Node, Scene
from pointsman.demo.traced import trace_samples
from pointsman.sim.saturation import session_samples
from pointsman.workload.rows import Trace, TraceRow
from pointsman.workload.traces import leading


def fleet(*speeds):
    return Scene(tuple(Node(f"n{i}", speed) for i, speed in enumerate(speeds)), Fault("n0", 2.0, 0.4, 0.6), 0.1)


def test_saturation_adds_up_over_the_nodes_and_follows_their_speed():
    samples = session_samples(1, 16)
    one = scene_saturation(fleet(1.0), samples)
    assert scene_saturation(fleet(1.0, 1.0), samples) == pytest.approx(2 * one)
    assert scene_saturation(fleet(1.0, 0.5), samples) == pytest.approx(1.5 * one, rel=0.02)


def test_sessions_are_planned_at_the_load_asked_for():
    plan, saturation = planned(DemoConfig(load=0.5, seconds=60.0), None)
    asked = sum(len(dialogue.lines) for dialogue in plan.demand.dialogues)
    assert asked / plan.seconds == pytest.approx(0.5 * saturation, rel=0.1)
    assert plan.seconds == 60.0 * plan.time_scale
    assert plan.window.start_s == pytest.approx(SCENE.warm_up * plan.seconds)


def test_a_slow_demand_runs_faster_within_bounds():
    assert time_scale_for(18.0) == 5.0
    assert time_scale_for(0.1) == 15.0
    assert time_scale_for(1000.0) == 1.0
    assert planned(DemoConfig(time_scale=2.0), None)[0].time_scale == 2.0


def test_a_trace_is_loaded_by_the_rows_that_are_replayed():
    """Its first rows are light, the others heavy: the first guess of 400 rows would overload the fleet."""
    trace = Trace("t", "azure", tuple(TraceRow(float(k), 500 if k < 400 else 8_000, 20) for k in range(1000)))
    plan, saturation = planned(DemoConfig(seconds=10.0, time_scale=5.0), trace)
    replayed = scene_saturation(SCENE, trace_samples(leading(trace, len(plan.demand.dialogues)), 32_768, 16))
    guessed = scene_saturation(SCENE, trace_samples(leading(trace, 400), 32_768, 16))
    assert saturation == pytest.approx(replayed, rel=0.15)
    assert saturation < 0.7 * guessed


def test_a_run_waits_as_long_as_a_long_answer_may_take():
    plan, _ = planned(DemoConfig(), Trace("t", "azure", tuple(TraceRow(float(k), 100, 300) for k in range(50))))
    assert plan.drain_s == pytest.approx(30.0)


def test_a_scene_says_what_is_asked_of_it_unless_the_user_does(monkeypatch):
    config = DemoConfig(scene="memory-tight")
    plan, saturation = planned(config, None)
    assert (load_of(config), policies_of(config)) == (MEMORY_TIGHT.load, MEMORY_TIGHT.policies)
    assert plan.seconds == MEMORY_TIGHT.seconds * plan.time_scale
    assert saturation < planned(DemoConfig(), None)[1]
    assert max(line.output_tokens for one in plan.demand.dialogues for line in one.lines) > 8_000
    other = DemoConfig(scene="memory-tight", load=0.5, policies=("jffc",), seconds=3.0)
    assert (load_of(other), policies_of(other)) == (0.5, ("jffc",))
    monkeypatch.setattr("pointsman.demo.plan.scene_saturation", lambda *_: 1.0)  # measuring it again takes a while
    assert planned(other, None)[0].seconds == pytest.approx(3.0 * planned(other, None)[0].time_scale)
