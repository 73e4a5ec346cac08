"""The scene of little memory over HTTP and simulated: both get the same dialogues, engines and settings."""

import pytest
from tight import ratio, runs_of, simulated_scene, spanned

from pointsman.config.demo import DemoConfig
from pointsman.demo.plan import planned as planned_demo
from pointsman.demo.scene import MEMORY_TIGHT
from pointsman.simulate.plan import planned


def test_the_simulator_gets_the_dialogues_of_the_demonstration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pointsman.demo.plan.scene_saturation", lambda *_: 1.0)  # measuring it takes a while
    plan, saturation = planned_demo(DemoConfig(scene="memory-tight", seed=3, seconds=4.0), None)
    same = planned(simulated_scene(3, MEMORY_TIGHT.load * saturation, plan.seconds))
    ours = [(one.start_s, [line.output_tokens for line in one.lines]) for one in plan.demand.dialogues]
    theirs = [(one.start_s, [ask.output_tokens for ask in one.asks]) for one in same.demands[0].dialogues]
    assert ours == theirs
    assert len(ours) > 20


def test_its_nodes_and_settings_are_those_of_the_scene() -> None:
    config = simulated_scene(1, 1.0, 60.0)
    plan = planned(config)
    assert [node.profile.limits.blocks for node in plan.nodes] == [3000] * len(MEMORY_TIGHT.nodes)
    assert config.brain.reserve == MEMORY_TIGHT.brain["reserve"] == "peak"
    assert config.warm_up == MEMORY_TIGHT.warm_up


ROWS = [
    {"where": "http", "policy": policy, "seed": seed, "preemptions": count}
    for policy, counts in (("a", (10, 30)), ("b", (5, 3)))
    for seed, count in enumerate(counts)
]


def test_ratios_are_of_the_means_and_by_seed() -> None:
    assert ratio(ROWS, "http", "b", "a", "preemptions") == "preemptions × 0.20 (0.10 to 0.50 by seed)"
    assert runs_of(ROWS, "simulated", "a") == []


@pytest.mark.parametrize(("values", "told"), [([2.0], "2"), ([2.0, 2.0], "2 [2, 2]")])
def test_a_mean_is_told_with_its_interval(values: list[float], told: str) -> None:
    assert spanned(values) == told
