"""What requests would take alone, against an engine that has nothing else to do."""

from math import inf

import numpy as np
import pytest

from pointsman.engine.profile import EngineProfile
from pointsman.engine.sequence import Sequence
from pointsman.engine.timeline import Timeline
from pointsman.sim.alone import alone_on
from pointsman.sim.fleet import nodes_of
from pointsman.sim.presets import FLEETS

SIZES = ((1, 1), (100, 1), (2048, 50), (5000, 7), (30_000, 300))


def on_an_engine(profile: EngineProfile, prompt: int, output: int) -> float:
    timeline = Timeline(profile.core(), lambda _now, _result: None, profile.overhead_seconds)
    sequence = Sequence("1", prompt, output)
    timeline.submit(sequence, 0.0)
    timeline.advance(inf)
    assert sequence.finished_at is not None
    return sequence.finished_at


@pytest.mark.parametrize("fleet", ["uneven", "qwen2.5-72b-a100"])
def test_it_is_what_an_idle_engine_takes(fleet: str) -> None:
    node = nodes_of(FLEETS[fleet])[0]
    prompts, outputs = (np.array(sizes, dtype=float) for sizes in zip(*SIZES, strict=True))
    expected = [on_an_engine(node.profile, *size) for size in SIZES]
    assert alone_on([node.profile])(prompts, outputs) == pytest.approx(expected, rel=0.01)


def test_the_fastest_node_counts() -> None:
    fast, slow = (node.profile for node in nodes_of(FLEETS["uneven"])[1:3])
    sizes = np.array([500.0]), np.array([100.0])
    assert alone_on([slow, fast])(*sizes) == alone_on([fast])(*sizes) < alone_on([slow])(*sizes) / 2


def test_of_nothing_it_is_nothing() -> None:
    nodes = nodes_of(FLEETS["uneven"])
    assert alone_on(node.profile for node in nodes)(np.array([]), np.array([])).size == 0
