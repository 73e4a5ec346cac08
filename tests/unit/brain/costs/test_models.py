"""Model shapes, built in and read from Hugging Face configurations."""

import pytest

from pointsman.brain.costs.geometry import kv_bytes_per_token
from pointsman.brain.costs.models import MODELS, shape_from_hf

LLAMA_3_8B = {
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
}


@pytest.mark.parametrize(
    ("model", "billions"),
    [("Llama-2-7B", 6.74), ("Llama-2-70B", 69), ("Llama-3-8B", 8.03), ("Llama-3-70B", 70.6), ("Qwen2.5-72B", 72.7)],
)
def test_parameter_counts(model: str, billions: float) -> None:
    assert MODELS[model].parameters / 1e9 == pytest.approx(billions, rel=0.01)


def test_a_configuration_gives_the_preset() -> None:
    assert shape_from_hf(LLAMA_3_8B, "Llama-3-8B") == MODELS["Llama-3-8B"]


def test_the_first_qwen_counts_both_halves_of_its_feed_forward() -> None:
    config = {**LLAMA_3_8B, "model_type": "qwen", "intermediate_size": 49152}
    assert shape_from_hf(config, "q").feed_forward == 24576


def test_latent_attention_is_read() -> None:
    shape = shape_from_hf({**LLAMA_3_8B, "kv_lora_rank": 512, "qk_rope_head_dim": 64, "head_dim": 192}, "mla")
    assert (shape.kv_lora_rank, shape.rope_size, shape.head_size) == (512, 64, 192)
    assert kv_bytes_per_token(shape) == 32 * 576 * 2


def test_hybrid_layers_are_counted() -> None:
    kinds = ["linear_attention", "linear_attention", "linear_attention", "full_attention"] * 8
    assert shape_from_hf({**LLAMA_3_8B, "layer_types": kinds}, "hybrid").kv_layers == 8


def test_the_decoder_of_a_multimodal_model_is_found() -> None:
    assert shape_from_hf({"vision_config": {}, "text_config": LLAMA_3_8B}, "vl").layers == 32


@pytest.mark.parametrize("value", [None, 0, "32"])
def test_what_is_missing_is_named(value: object) -> None:
    with pytest.raises(ValueError, match="num_hidden_layers"):
        shape_from_hf({**LLAMA_3_8B, "num_hidden_layers": value}, "broken")
