"""The gateway's configuration file: what it says, and that its seconds fit engines that live faster."""

import tomllib

import msgspec
import pytest

from pointsman.brain.model.settings import BrainSettings
from pointsman.config.demo import POLICIES
from pointsman.config.serve import ServeConfig, all_nodes, gateway_settings, policy_table
from pointsman.demo.gateway import settings_text


def written(policy, scale=5.0):
    return tomllib.loads(settings_text(policy, scale, 1, 2, ["http://127.0.0.1:3", "http://127.0.0.1:4"]))


@pytest.mark.parametrize("policy", POLICIES)
def test_the_gateway_accepts_it(policy):
    config = msgspec.convert(written(policy), ServeConfig)
    assert policy_table(config).scopes()["default"].name == policy
    assert gateway_settings(config).port
    assert [node.url for node in all_nodes(config)] == ["http://127.0.0.1:3", "http://127.0.0.1:4"]


def test_patience_and_memory_shrink_with_the_time_scale():
    config = msgspec.convert(written("hybrid"), ServeConfig)
    assert config.brain.peak_decay_s == BrainSettings().peak_decay_s / 5
    assert config.brain.slow_start_s == 0
    assert config.brain.window == BrainSettings().window
    assert config.policies["hybrid"]["response_limit_s"] == pytest.approx(0.4)
    assert written("fastest_completion")["policies"]["fastest_completion"]["hold_above"] == pytest.approx(0.4)


def test_a_scene_s_own_settings_are_hastened_like_the_usual():
    text = settings_text("greedy", 5.0, 1, 2, ["http://127.0.0.1:3"], brain={"queue_timeout_s": 300.0, "order": "edf"})
    config = msgspec.convert(tomllib.loads(text), ServeConfig)
    assert (config.brain.queue_timeout_s, config.brain.order) == (60.0, "edf")
    assert config.brain.lease_s == BrainSettings().lease_s
