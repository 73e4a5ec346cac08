"""Settings that do nothing beside the others."""

from typing import Any

import msgspec
import pytest

from pointsman.config.idle import idle
from pointsman.config.serve import ServeConfig

CLASS = {"model": "m", "up_to_tokens": 1024}


def told(raw: dict[str, Any]) -> list[str]:
    return list(idle(msgspec.convert(raw, ServeConfig)))


def test_of_the_defaults_nothing_is_idle() -> None:
    assert told({}) == []


@pytest.mark.parametrize(
    ("brain", "keys"),
    [
        ({"preemption": "on"}, "`brain.preemption`"),
        (
            {"defragmentation": "on", "cache": {"gather_load": 0.3}},
            "`brain.defragmentation`, `brain.cache.gather_load`",
        ),
    ],
)
def test_streams_are_moved_where_any_can_be_resumed(brain: dict[str, Any], keys: str) -> None:
    assert told({"brain": brain}) == [f"{keys}: no stream is moved while `resume` is off"]
    assert told({"brain": brain, "models": {"m": {"resume": "off"}}}) != []
    assert told({"brain": brain, "resume": "tokens"}) == []
    assert told({"brain": brain, "models": {"m": {"resume": "text"}}}) == []


@pytest.mark.parametrize(
    ("brain", "key"),
    [
        ({"reserve": "peak"}, "brain.reserve"),
        ({"cache": {"prealloc": [CLASS]}}, "brain.cache.prealloc"),
        ({"cache": {"demand_classes": 4}}, "brain.cache.demand_classes"),
    ],
)
def test_memory_is_kept_for_who_asks_whether_it_is_free(brain: dict[str, Any], key: str) -> None:
    (sentence,) = told({"brain": brain})
    assert sentence == f"`{key}`: no policy in use asks whether memory is free; `greedy` does"
    assert told({"brain": brain, "policy": "greedy"}) == []
    assert told({"brain": brain, "models": {"m": {"policy": "greedy"}}}) == []
    assert told({"brain": brain, "routes": {"/x": {"pool": "m", "policy": "greedy"}}}) == []


def test_a_node_obeys_one_gateway() -> None:
    nodes = [{"url": "http://a", "residency": "commanded"}]
    assert told({"nodes": nodes}) == []
    (sentence,) = told({"nodes": nodes, "workers": 2})
    assert "`workers`" in sentence
