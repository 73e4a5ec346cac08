"""Engines that differ from their profile, and a gateway that is told nothing."""

from math import inf

import pytest

from pointsman.brain.costs.step_time import prefill_seconds
from pointsman.engine.profile import EngineProfile
from pointsman.engine.sequence import Sequence
from pointsman.engine.timeline import Timeline
from pointsman.sim.disturbed import Disturbance, disturbed
from pointsman.sim.fleet import Node, nodes_of
from pointsman.sim.plain import PlainProfile
from pointsman.sim.presets import FLEETS

NODES = nodes_of(FLEETS["uneven"], declare=True)


def seconds(node: Node, prompt: int, output: int) -> float:
    profile = node.profile
    assert isinstance(profile, EngineProfile)
    timeline = Timeline(profile.core(), lambda _now, _result: None)
    sequence = Sequence("1", prompt, output)
    timeline.submit(sequence, 0.0)
    timeline.advance(inf)
    assert sequence.finished_at is not None
    return sequence.finished_at


def by(**factors: float) -> Node:
    return disturbed(NODES, Disturbance(**factors))[0]


def test_steps_take_longer_by_the_factor() -> None:
    assert seconds(by(step=1.2), 5000, 50) == pytest.approx(1.2 * seconds(NODES[0], 5000, 50))


def test_prefill_alone_takes_longer_and_decode_does_not() -> None:
    slow, usual = by(prefill=1.3), NODES[0]
    assert seconds(slow, 5000, 1) == pytest.approx(1.3 * seconds(usual, 5000, 1))
    decode = seconds(usual, 5000, 50) - seconds(usual, 5000, 1)
    assert seconds(slow, 5000, 50) - seconds(slow, 5000, 1) == pytest.approx(decode)


def test_beside_decodes_what_prefill_adds_is_scaled() -> None:
    slow, usual = by(prefill=1.3).profile, NODES[0].profile
    assert isinstance(slow, EngineProfile)
    assert isinstance(usual, EngineProfile)
    added = usual.step_time.fixed(8, 1000) - usual.step_time.fixed(8, 0)
    assert slow.step_time.fixed(8, 1000) - slow.step_time.fixed(8, 0) == pytest.approx(1.3 * added)
    assert prefill_seconds(slow.step_time, 4096) == pytest.approx(1.3 * prefill_seconds(usual.step_time, 4096))


def test_memory_changes_but_the_longest_request_still_fits() -> None:
    usual, fewer, none = NODES[0].profile, by(blocks=0.75).profile, by(blocks=0.001).profile
    assert isinstance(usual, EngineProfile)
    assert isinstance(fewer, EngineProfile)
    assert isinstance(none, EngineProfile)
    assert fewer.limits.blocks == pytest.approx(0.75 * usual.limits.blocks, abs=1)
    assert none.limits.blocks * none.limits.block_size >= usual.max_model_len
    assert none.max_model_len == usual.max_model_len


def test_the_gateway_is_told_nothing() -> None:
    assert [node.spec for node in disturbed(NODES, Disturbance(1.2, 1.3, 0.75))] == [node.spec for node in NODES]


def test_plain_servers_have_steps_only() -> None:
    plain = nodes_of(FLEETS["three-plain"])
    slow, usual = disturbed(plain, Disturbance(step=1.2, prefill=1.3))[0].profile, plain[0].profile
    assert isinstance(slow, PlainProfile)
    assert slow.slowdown == pytest.approx(1.2 * usual.slowdown)
