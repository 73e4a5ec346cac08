"""Fleets under names: they exist, and differ in what they are named for."""

import pytest

from pointsman.sim.fleet import nodes_of
from pointsman.sim.presets import FLEETS


@pytest.mark.parametrize("preset", FLEETS)
def test_every_preset_makes_nodes(preset: str) -> None:
    nodes = nodes_of(FLEETS[preset])
    assert len({node.name for node in nodes}) == len(nodes) == sum(kind.count for kind in FLEETS[preset])


def test_eight_by_eight_is_what_it_says() -> None:
    (kind,) = FLEETS["8x8xa100"]
    assert (kind.count, kind.tp, kind.gpu) == (8, 8, "A100-80G")


def test_the_new_prefill_faster_and_the_old_are_nearer() -> None:
    nodes = nodes_of(FLEETS["three-new-seven-old"])
    new, old = nodes[:3], nodes[3:]
    assert len(old) == 7
    assert new[0].prefill_rate > 2 * old[0].prefill_rate
    assert new[0].profile.overhead_seconds > old[0].profile.overhead_seconds
