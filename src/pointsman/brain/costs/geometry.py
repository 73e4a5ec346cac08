"""How much memory a token's KV cache takes, and how many tokens a node can hold."""

from pointsman.brain.costs.hardware import Hardware
from pointsman.brain.costs.models import ModelShape

BF16_BYTES = 2


def kv_bytes_per_token(shape: ModelShape, bytes_per_element: float = BF16_BYTES) -> int:
    """Bytes of KV cache one token takes over all tensor-parallel ranks together.

    `2 · layers · kv_heads · head_size · bytes_per_element`; with multi-head latent attention
    `layers · (kv_lora_rank + rope_size) · bytes_per_element`. Hybrid models count only layers that keep a cache.
    """
    layers = shape.attention_layers
    if shape.kv_lora_rank:
        return int(layers * (shape.kv_lora_rank + shape.rope_size) * bytes_per_element)
    return int(2 * layers * shape.kv_heads * shape.head_size * bytes_per_element)


def kv_replicas(shape: ModelShape, tensor_parallel: int) -> int:
    """How many ranks keep the same part of the cache: MLA's latent vector is not divided, KV heads only down to one."""
    if shape.kv_lora_rank:
        return tensor_parallel
    return max(1, tensor_parallel // shape.kv_heads)


def kv_capacity_tokens(
    shape: ModelShape,
    gpu: Hardware,
    tensor_parallel: int = 1,
    *,
    utilisation: float = 0.90,
    bytes_per_element: float = BF16_BYTES,
) -> int:
    """Tokens of KV cache that fit a node of `tensor_parallel` GPUs: `TP·(utilisation·M − overhead) − weights`.

    Raises ValueError when the weights alone do not fit.
    """
    usable = tensor_parallel * (utilisation * gpu.memory_bytes - gpu.reserved_bytes)
    left = usable - shape.parameters * BF16_BYTES
    if left <= 0:
        raise ValueError(f"{shape.name} does not fit {tensor_parallel} × {gpu.name}: {-left / 1e9:.1f} GB are missing")
    return int(left / (kv_bytes_per_token(shape, bytes_per_element) * kv_replicas(shape, tensor_parallel)))
