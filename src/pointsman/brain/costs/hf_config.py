"""A model's shape from its Hugging Face `config.json`, already parsed.

Families name the same thing differently; each name below is one that published configurations use.
"""

from collections.abc import Mapping
from typing import Any

from pointsman.brain.costs.models import Experts, ModelShape

Config = Mapping[str, Any]

_EXPERTS = ("num_local_experts", "n_routed_experts", "num_experts")
_PER_TOKEN = ("num_experts_per_tok", "experts_per_token", "num_experts_per_token")
_SPARSE_EVERY = ("decoder_sparse_step", "moe_layer_freq", "interleave_moe_layer_step")
_WITH_CACHE = ("full_attention", "attention", "sliding_attention", "chunked_attention")


def shape_from_hf(config: Config, name: str) -> ModelShape:
    """The shape `config` describes. Raises ValueError naming what is missing.

    Multimodal models keep the decoder's dimensions under `text_config`. In the first Qwen family
    `intermediate_size` counts both halves of the gated feed-forward.
    """
    text = config.get("text_config") or config
    if not isinstance(text, Mapping):
        raise ValueError(f"the configuration of {name} has a text_config that is no table")
    hidden, layers, heads, feed_forward, vocabulary = (
        _dimension(text, key, name)
        for key in ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size")
    )
    if text.get("model_type") == "qwen":
        feed_forward //= 2
    latent, rope = _count(text, "kv_lora_rank", name), _count(text, "qk_rope_head_dim", name)
    kv_layers = _kv_layers(text, layers)
    if kv_layers == 0:
        raise ValueError(f"the configuration of {name} has no layer with a KV cache, which engines here are about")
    usual = _count(text, "qk_nope_head_dim", name) + rope if latent else hidden // heads
    return ModelShape(
        name=name,
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=_count(text, "num_key_value_heads", name) or heads,
        head_size=_count(text, "head_dim", name) or usual or hidden // heads,
        feed_forward=_count(text, "intermediate_size_mlp", name) or feed_forward,
        vocabulary=vocabulary,
        tied_embeddings=bool(text.get("tie_word_embeddings", config.get("tie_word_embeddings", False))),
        kv_layers=kv_layers,
        kv_lora_rank=latent,
        rope_size=rope,
        q_lora_rank=_count(text, "q_lora_rank", name),
        value_size=_count(text, "v_head_dim", name) if latent else 0,
        experts=_experts(text, layers, feed_forward, name),
    )


def _dimension(config: Config, key: str, name: str) -> int:
    value = config.get(key)
    if type(value) is not int or value <= 0:
        raise ValueError(f"the configuration of {name} needs a positive integer {key!r}, found {value!r}")
    return value


def _count(config: Config, key: str, name: str) -> int:
    """A dimension that not every model has: 0 where it is left out."""
    return 0 if config.get(key) in (None, 0) else _dimension(config, key, name)


def _first(config: Config, keys: tuple[str, ...]) -> str | None:
    return next((key for key in keys if config.get(key) is not None), None)


def _kv_layers(config: Config, layers: int) -> int | None:
    """Layers with a KV cache, where the configuration tells them apart from others; else None: all of them.

    A layer with a sliding window counts like any other: its cache is as large until the window is full.
    """
    kinds = config.get("layer_types") or config.get("layers_block_type")
    if isinstance(kinds, list):
        return sum(kind in _WITH_CACHE for kind in kinds)
    pattern, interval = config.get("hybrid_override_pattern"), config.get("full_attention_interval")
    if isinstance(pattern, str):
        return pattern.count("*")
    if isinstance(interval, int) and interval > 0:
        return layers // interval
    period, offset = config.get("attn_layer_period"), config.get("attn_layer_offset", 0)
    if isinstance(period, int) and period > 0 and isinstance(offset, int):
        return len(range(offset, layers, period))
    return None


def _experts(config: Config, layers: int, feed_forward: int, name: str) -> Experts | None:
    key = _first(config, _EXPERTS)
    count = _count(config, key, name) if key else 0
    if count < 2:
        return None
    chosen = _dimension(config, _first(config, _PER_TOKEN) or _PER_TOKEN[0], name)
    if chosen > count:
        raise ValueError(f"the configuration of {name} has {count} experts, of which a token cannot pass {chosen}")
    size = _count(config, "moe_intermediate_size", name) or feed_forward
    shared = _count(config, "shared_expert_intermediate_size", name) or size * _count(config, "n_shared_experts", name)
    if _count(config, "intermediate_size_mlp", name):  # Llama 4, whose shared expert is in no field
        shared = size
    sparse = _sparse_layers(config, layers)
    return Experts(layers=sparse, count=count, per_token=chosen, feed_forward=size, shared=shared) if sparse else None


def _sparse_layers(config: Config, layers: int) -> int:
    """Layers that have experts: each `every`th after the first dense ones, but for those listed as dense."""
    every = config.get(_first(config, _SPARSE_EVERY) or "", 1)
    if isinstance(every, list):
        return sum(bool(one) for one in every)
    first, dense = config.get("first_k_dense_replace") or 0, config.get("mlp_only_layers") or ()
    step = every if isinstance(every, int) and every > 0 else 1
    return sum(layer >= first and (layer + 1) % step == 0 and layer not in dense for layer in range(layers))
