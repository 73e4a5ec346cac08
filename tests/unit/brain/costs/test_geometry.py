"""KV bytes and capacities against worked values."""

import msgspec
import pytest

from pointsman.brain.costs.geometry import kv_bytes_per_token, kv_capacity_tokens, kv_replicas
from pointsman.brain.costs.hardware import HARDWARE
from pointsman.brain.costs.models import MODELS


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("Qwen-72B", 2_621_440),
        ("Qwen2.5-72B", 327_680),
        ("Llama-3-70B", 327_680),
        ("Llama-3-8B", 131_072),
        ("Llama-2-7B", 524_288),
    ],
)
def test_bytes_per_token(model: str, expected: int) -> None:
    assert kv_bytes_per_token(MODELS[model]) == expected


@pytest.mark.parametrize(
    ("model", "gpu", "ranks", "expected"),
    [
        ("Llama-3-8B", "A100-80G", 1, 441_000),
        ("Llama-3-70B", "H100", 4, 438_000),
        ("Qwen-72B", "A100-80G", 8, 170_000),
        ("Qwen2.5-72B", "A100-80G", 8, 1_360_000),
    ],
)
def test_capacity(model: str, gpu: str, ranks: int, expected: int) -> None:
    assert kv_capacity_tokens(MODELS[model], HARDWARE[gpu], ranks) == pytest.approx(expected, rel=0.01)


def test_a_latent_vector_is_kept_once_a_layer_and_on_every_rank() -> None:
    shape = msgspec.structs.replace(MODELS["Llama-3-8B"], layers=61, kv_lora_rank=512, rope_size=64)
    assert kv_bytes_per_token(shape) == 61 * 576 * 2
    assert kv_replicas(shape, 8) == 8


def test_kv_heads_are_repeated_when_there_are_more_ranks() -> None:
    assert kv_replicas(MODELS["Llama-3-70B"], 4) == 1
    assert kv_replicas(MODELS["Llama-3-70B"], 16) == 2


def test_layers_without_a_cache_do_not_count() -> None:
    hybrid = msgspec.structs.replace(MODELS["Llama-3-8B"], kv_layers=4)
    assert kv_bytes_per_token(hybrid) == kv_bytes_per_token(MODELS["Llama-3-8B"]) // 8


def test_a_model_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="does not fit 1 × L40S"):
        kv_capacity_tokens(MODELS["Llama-3-70B"], HARDWARE["L40S"])
