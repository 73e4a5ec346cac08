"""Settings become speed and size."""

import msgspec
import pytest

from pointsman.engine.macro import MacroTimeline
from pointsman.engine.profile import profile_of
from pointsman.engine.settings import EngineConfig
from pointsman.engine.timeline import Timeline


def test_blocks_follow_from_gpu_memory() -> None:
    limits = profile_of(EngineConfig(profile="Llama-3-8B", gpu="A100-80G")).limits
    assert limits.blocks * limits.block_size == pytest.approx(441_000, rel=0.01)


@pytest.mark.parametrize(
    ("gpu", "tokens", "sequences"), [("H100", 8192, 1024), ("A100-80G", 2048, 256), ("L40S", 2048, 256)]
)
def test_batch_limits_default_as_in_vllm(gpu: str, tokens: int, sequences: int) -> None:
    limits = profile_of(EngineConfig(gpu=gpu)).limits
    assert (limits.max_num_batched_tokens, limits.max_num_seqs) == (tokens, sequences)


def test_what_is_set_wins() -> None:
    config = EngineConfig(kv_blocks=50, block_size=32, max_num_seqs=3, max_num_batched_tokens=99, speed=0.5)
    profile = profile_of(config)
    assert (profile.limits.blocks, profile.limits.max_num_seqs, profile.limits.max_num_batched_tokens) == (50, 3, 99)
    assert profile.slowdown == 2.0
    assert profile.max_model_len == 1600


def test_measured_figures_replace_the_roofline() -> None:
    profile = profile_of(EngineConfig(prefill_tokens_per_second=1000, decode_base_ms=20, decode_per_sequence_ms=1))
    assert profile.step_time.fixed(5, 0) == pytest.approx(0.025)


def test_half_of_the_measured_figures_is_refused() -> None:
    with pytest.raises(ValueError, match="needs both"):
        profile_of(EngineConfig(decode_base_ms=20))


@pytest.mark.parametrize("config", [EngineConfig(profile="GPT-9"), EngineConfig(gpu="B9000")])
def test_unknown_names_are_answered_with_the_known_ones(config: EngineConfig) -> None:
    with pytest.raises(ValueError, match="choose one of"):
        profile_of(config)


def test_scales_change_the_gpus_figures() -> None:
    usual, halved = profile_of(EngineConfig()).step_time, profile_of(EngineConfig(bandwidth_scale=0.5)).step_time
    assert halved.per_context_token == pytest.approx(2 * usual.per_context_token)
    assert halved.per_attention_token == usual.per_attention_token
    slower = profile_of(EngineConfig(compute_scale=0.5)).step_time
    assert slower.per_attention_token == pytest.approx(2 * usual.per_attention_token)
    assert slower.fixed(0, 4096) > 1.7 * usual.fixed(0, 4096)


def test_tiers_below_the_gpu_hold_blocks_and_take_the_time_of_copying_them() -> None:
    assert profile_of(EngineConfig()).limits.tiers == ()
    memory, disk = profile_of(EngineConfig(swap_memory_gib=16, swap_disk_gib=100, swap_disk_gbps=2)).limits.tiers
    block = 16 * 128 * 1024  # bytes: 128 KiB of KV cache a token
    assert (memory.blocks, disk.blocks) == (16 * 1024**3 // block, 100 * 1024**3 // block)
    assert memory.seconds_per_block == pytest.approx(block / 20e9)
    assert disk.seconds_per_block == pytest.approx(block / 2e9)


def test_an_engine_that_tells_of_each_block_is_looked_at_step_by_step() -> None:
    profile = profile_of(EngineConfig())
    assert isinstance(profile.timeline(lambda _now, _result: None), MacroTimeline)
    listened = msgspec.structs.replace(profile, kv_events=True)
    assert isinstance(listened.timeline(lambda _now, _result: None), Timeline)


def test_a_block_may_be_given_in_mib() -> None:
    limits = profile_of(EngineConfig(profile="Llama-3-8B", block_mib=128)).limits
    by_tokens = profile_of(EngineConfig(profile="Llama-3-8B", block_size=1024)).limits
    assert (limits.block_size, limits.blocks) == (1024, by_tokens.blocks)
