"""The nodes of a simulation: kinds with a count, and their numbers."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from pointsman.brain.costs.step_time import prefill_seconds
from pointsman.brain.model.node import NodeSpec
from pointsman.engine.profile import BUILT_IN, Catalogue, EngineProfile, profile_of
from pointsman.engine.settings import EngineConfig, Positive, PositiveFloat

PROMPT = 2048
MODEL = "model"
"""Every node serves it, and every request asks for it."""


class NodeKind(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`count` equal nodes. Their engines are set as those of `pointsman engine`."""

    name: Annotated[str, Meta(min_length=1, description="name; of several nodes, a number follows")]
    count: Annotated[int, Meta(ge=1, description="nodes of this kind")] = 1
    profile: Annotated[str, Meta(description="model whose size sets the timing: a name or a config.json")] = (
        "Llama-3-8B"
    )
    gpu: Annotated[str, Meta(description="GPU whose speed and memory set the timing: a name or a TOML file")] = (
        "A100-80G"
    )
    tp: Annotated[int, Meta(ge=1, description="tensor-parallel GPUs")] = 1
    speed: Annotated[float, Meta(gt=0, description="speed relative to the profile")] = 1.0
    bandwidth_scale: Annotated[float, Meta(gt=0, description="memory bandwidth relative to the GPU's")] = 1.0
    compute_scale: Annotated[float, Meta(gt=0, description="arithmetic speed relative to the GPU's")] = 1.0
    overhead_ms: Annotated[float, Meta(ge=0, description="time in the API server before scheduling")] = 20.0
    kv_blocks: Annotated[Positive | None, Meta(description="KV cache blocks")] = None
    block_size: Annotated[int, Meta(ge=1, description="tokens in a KV cache block")] = 16
    max_num_seqs: Annotated[Positive | None, Meta(description="sequences in a batch")] = None
    max_num_batched_tokens: Annotated[Positive | None, Meta(description="tokens in a step")] = None
    max_model_len: Annotated[Positive | None, Meta(description="tokens of prompt and answer")] = None
    prefill_tokens_per_second: Annotated[PositiveFloat | None, Meta(description="measured prefill speed")] = None
    decode_base_ms: Annotated[PositiveFloat | None, Meta(description="measured time of a decode step")] = None
    decode_per_sequence_ms: Annotated[float, Meta(ge=0, description="what each sequence adds to it")] = 0.0

    def names(self) -> list[str]:
        """The names of its nodes."""
        return [self.name] if self.count == 1 else [f"{self.name}-{number}" for number in range(1, self.count + 1)]

    def engine(self) -> EngineConfig:
        """The settings of its engines."""
        own = ("name", "count")
        return EngineConfig(**{key: getattr(self, key) for key in self.__struct_fields__ if key not in own})


class Node(msgspec.Struct, frozen=True):
    """One node: its engine's profile, and how a gateway would be configured for it."""

    spec: NodeSpec
    profile: EngineProfile

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def prefill_rate(self) -> float:
        """Tokens per second of a prompt of 2,048 tokens: how fast the node is beside others."""
        return PROMPT / (prefill_seconds(self.profile.step_time, PROMPT) * self.profile.slowdown)


def nodes_of(kinds: Iterable[NodeKind], *, declare: bool = False, catalogue: Catalogue = BUILT_IN) -> tuple[Node, ...]:
    """All nodes, in order. With `declare`, the gateway is told their slots, model and hardware; else it learns.

    Models and GPUs are looked up in `catalogue`. Raises ValueError for unknown ones, for settings that do not go
    together and for a name given twice.
    """
    nodes = tuple(node for kind in kinds for node in _nodes(kind, declare, catalogue))
    for name, count in Counter(node.name for node in nodes).items():
        if count > 1:
            raise ValueError(f"two nodes are named {name!r}")
    return nodes


def serving(nodes: Iterable[Node], models: tuple[str, ...]) -> tuple[Node, ...]:
    """The same nodes, each serving all of these models."""
    return tuple(
        msgspec.structs.replace(node, spec=msgspec.structs.replace(node.spec, models=models)) for node in nodes
    )


def _nodes(kind: NodeKind, declare: bool, catalogue: Catalogue) -> list[Node]:
    profile = profile_of(kind.engine(), catalogue)
    specs = [NodeSpec(url=f"http://{name}", id=name, engine="vllm", models=(MODEL,)) for name in kind.names()]
    return [Node(_declared(spec, kind, profile) if declare else spec, profile) for spec in specs]


def _declared(spec: NodeSpec, kind: NodeKind, profile: EngineProfile) -> NodeSpec:
    return msgspec.structs.replace(
        spec,
        slots=profile.limits.max_num_seqs,
        hardware=kind.gpu,
        profile=kind.profile,
        tensor_parallel=kind.tp,
    )


def resized(kinds: Sequence[NodeKind], total: int) -> tuple[NodeKind, ...]:
    """The fleet with `total` nodes in all, its kinds in the same proportions as nearly as whole nodes allow.

    Largest remainders; raises ValueError where that leaves a kind without any.
    """
    before = sum(kind.count for kind in kinds)
    shares = [kind.count * total / before for kind in kinds]
    counts = [int(share) for share in shares]
    by_remainder = sorted(range(len(kinds)), key=lambda which: (counts[which] - shares[which], which))
    for which in by_remainder[: total - sum(counts)]:
        counts[which] += 1
    if not all(counts):
        raise ValueError(f"{total} nodes are too few to have one of each kind: {', '.join(one.name for one in kinds)}")
    return tuple(msgspec.structs.replace(kind, count=count) for kind, count in zip(kinds, counts, strict=True))
