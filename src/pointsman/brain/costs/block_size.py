"""Sizes of KV blocks in MiB, as tokens.

Engines that keep a sequence's KV in one piece lay it out in slabs of memory. How many tokens one holds depends on the
model: 128 MiB are 51 tokens of Qwen-72B and 1,024 of Llama-3-8B. It counts over all GPUs of the node, as bf16.
"""

import msgspec

from pointsman.brain.costs.geometry import kv_bytes_per_token, kv_replicas
from pointsman.brain.costs.models import MODELS, ModelShape
from pointsman.brain.model.node import NodeSpec

MIB = 1 << 20


def tokens_in(mib: int, shape: ModelShape, tensor_parallel: int = 1) -> int:
    """Tokens that a block of `mib` MiB holds. Raises ValueError where it is too small for one."""
    bytes_per_token = kv_bytes_per_token(shape) * kv_replicas(shape, tensor_parallel)
    tokens = mib * MIB // bytes_per_token
    if not tokens:
        raise ValueError(
            f"a token of {shape.name} takes {bytes_per_token / MIB:.3g} MiB: no block of {mib} MiB holds one"
        )
    return tokens


def sized(spec: NodeSpec) -> NodeSpec:
    """The node with its block in tokens, where it is given in MiB. Raises ValueError for a model that is not known."""
    if spec.block_mib is None:
        return spec
    shape = MODELS.get(spec.profile)
    if shape is None:
        known = f"`profile` must name its model, one of {', '.join(MODELS)}"
        raise ValueError(
            f"node {spec.name!r}: what a block of {spec.block_mib} MiB holds depends on the model: {known}"
        )
    return msgspec.structs.replace(spec, block_tokens=tokens_in(spec.block_mib, shape, spec.tensor_parallel))
