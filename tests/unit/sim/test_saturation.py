"""What a fleet can serve of the generated dialogues."""

import itertools

import pytest

from pointsman.engine.profile import profile_of
from pointsman.engine.settings import EngineConfig
from pointsman.engine.virtual import Sample
from pointsman.sim.saturation import fleet_saturation, session_samples


def test_saturation_adds_up_over_the_nodes():
    fast, slow = profile_of(EngineConfig()), profile_of(EngineConfig(speed=0.5))
    samples = [Sample(500, 50)] * 200
    one = fleet_saturation([fast], samples)
    assert fleet_saturation([fast, fast], samples) == pytest.approx(2 * one)
    assert fleet_saturation([fast, slow], samples) == pytest.approx(1.5 * one, rel=0.05)


def test_samples_have_a_hash_for_every_full_block_and_follow_ups_extend_their_dialogue():
    samples = session_samples(1, 16)
    assert all(len(sample.hashes) == sample.prompt_tokens // 16 for sample in samples)
    by_end = {sample.hashes[-1] >> 16: [] for sample in samples}
    for sample in samples:
        by_end[sample.hashes[-1] >> 16].append(sample)
    for dialogue in by_end.values():
        for before, after in itertools.pairwise(dialogue):
            assert after.hashes[: len(before.hashes)] == before.hashes
