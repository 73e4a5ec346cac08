"""Model shapes from Hugging Face configurations, the fields as published with the models."""

from typing import Any

import pytest

from pointsman.brain.costs.geometry import kv_bytes_per_token
from pointsman.brain.costs.hf_config import shape_from_hf
from pointsman.brain.costs.models import MODELS

LLAMA_3_8B = {
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
}
MIXTRAL_8X7B = {
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 32000,
    "num_local_experts": 8,
    "num_experts_per_tok": 2,
}
QWEN3_30B_A3B = {
    "hidden_size": 2048,
    "num_hidden_layers": 48,
    "num_attention_heads": 32,
    "num_key_value_heads": 4,
    "head_dim": 128,
    "intermediate_size": 6144,
    "moe_intermediate_size": 768,
    "vocab_size": 151936,
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
}
DEEPSEEK_V3 = {
    "hidden_size": 7168,
    "num_hidden_layers": 61,
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "intermediate_size": 18432,
    "moe_intermediate_size": 2048,
    "vocab_size": 129280,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "num_experts_per_tok": 8,
    "first_k_dense_replace": 3,
    "moe_layer_freq": 1,
    "q_lora_rank": 1536,
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
}


@pytest.mark.parametrize(
    ("config", "total", "active"),
    [(MIXTRAL_8X7B, 46.7, 12.9), (QWEN3_30B_A3B, 30.5, 3.3), (DEEPSEEK_V3, 671, 37)],
)
def test_experts_give_the_published_sizes(config: dict[str, Any], total: float, active: float) -> None:
    """Billions of parameters; of the active ones, the input embeddings count in publications too."""
    shape = shape_from_hf(config, "m")
    resting = shape.expert_parameters * (1 - shape.expert_share)
    assert shape.parameters / 1e9 == pytest.approx(total, rel=0.01)
    assert (shape.parameters - resting) / 1e9 == pytest.approx(active, rel=0.03)


def test_deepseek_keeps_a_latent_vector() -> None:
    shape = shape_from_hf(DEEPSEEK_V3, "m")
    assert (shape.head_size, shape.value_size, shape.attention_sizes) == (192, 128, 320)
    assert kv_bytes_per_token(shape) == 61 * 576 * 2 == 70_272
    assert shape.experts is not None
    assert (shape.experts.layers, shape.experts.shared) == (58, 2048)


def test_experts_in_some_layers() -> None:
    def layers(**more: object) -> int:
        experts = shape_from_hf({**MIXTRAL_8X7B, **more}, "m").experts
        return experts.layers if experts else 0

    assert layers(interleave_moe_layer_step=2) == 16
    assert layers(moe_layer_freq=[0, 1, 1, 1]) == 3
    assert layers(mlp_only_layers=[0, 1, 31]) == 29
    assert layers(first_k_dense_replace=32) == 0
    assert layers(num_local_experts=1) == 0


def test_a_token_cannot_pass_more_experts_than_there_are() -> None:
    with pytest.raises(ValueError, match="8 experts, of which a token cannot pass 9"):
        shape_from_hf({**MIXTRAL_8X7B, "num_experts_per_tok": 9}, "m")
    with pytest.raises(ValueError, match="num_experts_per_tok"):
        shape_from_hf({key: value for key, value in MIXTRAL_8X7B.items() if key != "num_experts_per_tok"}, "m")


@pytest.mark.parametrize(
    "more",
    [
        {"hybrid_override_pattern": "M-M*-M*" + "M" * 25},
        {"full_attention_interval": 16},
        {"attn_layer_period": 16, "attn_layer_offset": 4},
        {"layers_block_type": ["mamba"] * 30 + ["attention"] * 2},
    ],
)
def test_other_ways_to_say_which_layers_keep_a_cache(more: dict[str, object]) -> None:
    assert shape_from_hf({**LLAMA_3_8B, **more}, "hybrid").kv_layers == 2


def test_a_model_without_any_cache_is_refused() -> None:
    with pytest.raises(ValueError, match="no layer with a KV cache"):
        shape_from_hf({**LLAMA_3_8B, "layers_block_type": ["mamba"] * 32}, "mamba")


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
