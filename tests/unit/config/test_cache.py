"""Settings of `pointsman cache replay`: the rules by name."""

import pytest

from pointsman.brain.cache.eviction import EVICTION_RULES
from pointsman.config.cache import CacheReplayConfig, rules_of, step_time_of
from pointsman.config.flags import ConfigError


def test_all_rules_unless_some_are_named() -> None:
    assert [rule.name for rule in rules_of(CacheReplayConfig())] == list(EVICTION_RULES)
    assert [rule.name for rule in rules_of(CacheReplayConfig(rule=("reuse", "lru")))] == ["reuse", "lru"]


def test_an_unknown_gpu_is_named() -> None:
    with pytest.raises(ConfigError, match="TPU"):
        step_time_of(CacheReplayConfig(gpu="TPU"))
