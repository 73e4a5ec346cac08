"""The shape of a transformer: what its step time and its KV cache depend on."""

from collections.abc import Mapping
from typing import Any

import msgspec


class ModelShape(msgspec.Struct, frozen=True, kw_only=True):
    """A decoder's dimensions. `kv_layers` is below `layers` in hybrid models, where only some layers keep a KV cache.

    With multi-head latent attention (MLA), `kv_lora_rank` is positive and a token's cache is one latent vector of
    `kv_lora_rank + rope_size` elements a layer instead of keys and values per head.
    """

    name: str
    layers: int
    hidden: int  # d
    heads: int  # h
    kv_heads: int  # kv
    head_size: int  # d_h
    feed_forward: int  # ff
    vocabulary: int  # V
    tied_embeddings: bool = False
    kv_layers: int | None = None
    kv_lora_rank: int = 0
    rope_size: int = 0

    @property
    def layer_parameters(self) -> int:
        """Parameters of one layer: query, key, value and output projections and a gated feed-forward."""
        attention = self.heads * self.head_size * 2 + 2 * self.kv_heads * self.head_size
        return self.hidden * attention + 3 * self.hidden * self.feed_forward

    @property
    def parameters(self) -> int:
        """Parameters of the whole model, norms and biases left out."""
        embeddings = self.vocabulary * self.hidden * (1 if self.tied_embeddings else 2)
        return self.layers * self.layer_parameters + embeddings


def _llama(
    name: str, layers: int, hidden: int, heads: tuple[int, int], feed_forward: int, vocabulary: int
) -> ModelShape:
    return ModelShape(
        name=name,
        layers=layers,
        hidden=hidden,
        heads=heads[0],
        kv_heads=heads[1],
        head_size=hidden // heads[0],
        feed_forward=feed_forward,
        vocabulary=vocabulary,
    )


_PRESETS = (
    _llama("Llama-2-7B", 32, 4096, (32, 32), 11008, 32000),
    _llama("Llama-2-70B", 80, 8192, (64, 8), 28672, 32000),
    _llama("CodeLlama-34B", 48, 8192, (64, 8), 22016, 32000),
    _llama("Llama-3-8B", 32, 4096, (32, 8), 14336, 128256),
    _llama("Llama-3-70B", 80, 8192, (64, 8), 28672, 128256),
    _llama("Qwen-72B", 80, 8192, (64, 64), 24576, 152064),
    _llama("Qwen2.5-72B", 80, 8192, (64, 8), 29568, 152064),
    msgspec.structs.replace(_llama("SmolLM2-135M", 30, 576, (9, 3), 1536, 49152), tied_embeddings=True),
)

MODELS = {shape.name: shape for shape in _PRESETS}


def shape_from_hf(config: Mapping[str, Any], name: str) -> ModelShape:
    """The shape described by a Hugging Face `config.json`, already parsed. Raises ValueError naming what is missing.

    Multimodal models keep the decoder's dimensions under `text_config`. In the first Qwen family
    `intermediate_size` counts both halves of the gated feed-forward.
    """
    text = config.get("text_config") or config
    hidden, layers, heads = (
        _dimension(text, key, name) for key in ("hidden_size", "num_hidden_layers", "num_attention_heads")
    )
    feed_forward = _dimension(text, "intermediate_size", name)
    if text.get("model_type") == "qwen":
        feed_forward //= 2
    return ModelShape(
        name=name,
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=int(text.get("num_key_value_heads") or heads),
        head_size=int(text.get("head_dim") or hidden // heads),
        feed_forward=feed_forward,
        vocabulary=_dimension(text, "vocab_size", name),
        tied_embeddings=bool(text.get("tie_word_embeddings", False)),
        kv_layers=_kv_layers(text),
        kv_lora_rank=int(text.get("kv_lora_rank") or 0),
        rope_size=int(text.get("qk_rope_head_dim") or 0),
    )


def _dimension(config: Mapping[str, Any], key: str, name: str) -> int:
    value = config.get(key)
    if not isinstance(value, int) or value <= 0:
        raise ValueError(f"the configuration of {name} needs a positive integer {key!r}, found {value!r}")
    return value


def _kv_layers(config: Mapping[str, Any]) -> int | None:
    """Layers with a growing KV cache, where the configuration lists its layers by kind; else None: all of them."""
    kinds = config.get("layer_types") or config.get("layers_block_type")
    if not kinds:
        return None
    return sum(kind in ("full_attention", "attention", "sliding_attention") for kind in kinds)
