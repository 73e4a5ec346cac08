"""The nodes of a simulation: kinds with a count, and their numbers."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from pointsman.brain.costs.step_time import prefill_seconds
from pointsman.brain.model.node import BlockMib, NodeSpec
from pointsman.engine.plain_service import PlainService
from pointsman.engine.profile import BUILT_IN, Catalogue, EngineProfile, profile_of
from pointsman.engine.settings import EngineConfig, Positive, PositiveFloat, Scale
from pointsman.sim.plain import PlainProfile, Profile

PROMPT = 2048
BLOCK = 16
UNBOUNDED = 2**40
MODEL = "model"
"""Every node serves it, and every request asks for it."""
MOST_NODES = 10_000


class NodeKind(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`count` equal nodes. Their engines are set as those of `pointsman engine`."""

    name: Annotated[str, Meta(min_length=1, description="name; of several nodes, a number follows")]
    count: Annotated[int, Meta(ge=1, le=MOST_NODES, description="nodes of this kind")] = 1
    kind: Annotated[Literal["engine", "plain"], Meta(description="LLM engine, or plain inference server")] = "engine"
    profile: Annotated[str, Meta(description="model whose size sets the timing: a name or a config.json")] = (
        "Llama-3-8B"
    )
    gpu: Annotated[str, Meta(description="GPU whose speed and memory set the timing: a name or a TOML file")] = (
        "A100-80G"
    )
    tp: Annotated[int, Meta(ge=1, description="tensor-parallel GPUs")] = 1
    speed: Annotated[float, Meta(gt=0, description="speed relative to the profile")] = 1.0
    bandwidth_scale: Annotated[Scale, Meta(description="memory bandwidth relative to the GPU's")] = 1.0
    compute_scale: Annotated[Scale, Meta(description="arithmetic speed relative to the GPU's")] = 1.0
    overhead_ms: Annotated[float, Meta(ge=0, description="time in the API server before scheduling")] = 20.0
    kv_blocks: Annotated[Positive | None, Meta(description="KV cache blocks")] = None
    block_size: Annotated[int, Meta(ge=1, description="tokens in a KV cache block")] = 16
    block_mib: Annotated[BlockMib | None, Meta(description="MiB in a KV cache block, instead of tokens")] = None
    max_num_seqs: Annotated[Positive | None, Meta(description="sequences in a batch")] = None
    max_num_batched_tokens: Annotated[Positive | None, Meta(description="tokens in a step")] = None
    max_model_len: Annotated[Positive | None, Meta(description="tokens of prompt and answer")] = None
    swap_memory_gib: Annotated[float, Meta(ge=0, description="CPU memory for preempted KV blocks")] = 0.0
    swap_memory_gbps: Annotated[float, Meta(gt=0, description="GB/s of copying to CPU memory and back")] = 20.0
    swap_disk_gib: Annotated[float, Meta(ge=0, description="disk for preempted KV blocks")] = 0.0
    swap_disk_gbps: Annotated[float, Meta(gt=0, description="GB/s of copying to the disk and back")] = 3.0
    scheduling_policy: Annotated[Literal["fcfs", "priority"], Meta(description="order of waiting requests")] = "fcfs"
    prefill_tokens_per_second: Annotated[PositiveFloat | None, Meta(description="measured prefill speed")] = None
    decode_base_ms: Annotated[PositiveFloat | None, Meta(description="measured time of a decode step")] = None
    decode_per_sequence_ms: Annotated[float, Meta(ge=0, description="what each sequence adds to it")] = 0.0
    plain_base_seconds: Annotated[float, Meta(ge=0.0001, description="plain: response time without load")] = 0.1
    plain_slope_seconds: Annotated[float, Meta(ge=0, description="plain: response time added at full load")] = 0.9
    plain_capacity: Annotated[int, Meta(ge=1, description="plain: requests in flight that are full load")] = 10
    drift: Annotated[float, Meta(ge=0, description="plain: mean load that comes from elsewhere")] = 0.0
    drift_swing: Annotated[float, Meta(ge=0, description="plain: how far that goes up and down")] = 0.0
    drift_period_s: Annotated[float, Meta(gt=0, description="plain: in how long")] = 120.0

    def names(self) -> list[str]:
        """The names of its nodes."""
        return [self.name] if self.count == 1 else [f"{self.name}-{number}" for number in range(1, self.count + 1)]

    def engine(self) -> EngineConfig:
        """The settings of its engines."""
        own = ("name", "count", "kind", "drift", "drift_swing", "drift_period_s")
        return EngineConfig(**{key: getattr(self, key) for key in self.__struct_fields__ if key not in own})

    def server(self, number: int) -> PlainProfile:
        """Its plain server number `number`, from 0: the drifts of several follow each other evenly."""
        return PlainProfile(
            service=PlainService(
                base_seconds=self.plain_base_seconds,
                slope_seconds=self.plain_slope_seconds,
                capacity=self.plain_capacity,
            ),
            slowdown=1.0 / self.speed,
            drift=self.drift,
            drift_swing=self.drift_swing,
            drift_period_s=self.drift_period_s,
            phase=number / self.count,
        )


class Node(msgspec.Struct, frozen=True):
    """One node: what runs there, and how a gateway would be configured for it."""

    spec: NodeSpec
    profile: Profile

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def prefill_rate(self) -> float:
        """How fast the node is beside others: tokens per second of a prompt of 2,048 tokens, or requests per second."""
        profile = self.profile
        if isinstance(profile, PlainProfile):
            return profile.service.requests_per_second() / profile.slowdown
        return PROMPT / (prefill_seconds(profile.step_time, PROMPT) * profile.slowdown)

    @property
    def block_tokens(self) -> int:
        """Tokens of a block of its cache; a plain server has none, and any size will do."""
        return BLOCK if isinstance(self.profile, PlainProfile) else self.profile.limits.block_size

    @property
    def most_tokens(self) -> int:
        """Tokens of prompt and answer that it takes."""
        return UNBOUNDED if isinstance(self.profile, PlainProfile) else self.profile.max_model_len


def nodes_of(kinds: Iterable[NodeKind], *, declare: bool = False, catalogue: Catalogue = BUILT_IN) -> tuple[Node, ...]:
    """All nodes, in order. With `declare`, the gateway is told their slots, model and hardware; else it learns.

    Models and GPUs are looked up in `catalogue`. Raises ValueError for unknown ones, for settings that do not go
    together and for a name given twice.
    """
    kinds = tuple(kinds)
    if len({kind.kind for kind in kinds}) > 1:
        raise ValueError("plain servers and LLM engines answer different requests: they cannot be one fleet")
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
    if kind.kind == "plain":
        slots = kind.plain_capacity if declare else None
        return [Node(_plain_spec(name, slots), kind.server(number)) for number, name in enumerate(kind.names())]
    profile = profile_of(kind.engine(), catalogue)
    specs = [NodeSpec(url=f"http://{name}", id=name, engine="vllm", models=(MODEL,)) for name in kind.names()]
    return [Node(_declared(spec, kind, profile) if declare else spec, profile) for spec in specs]


def _plain_spec(name: str, slots: int | None) -> NodeSpec:
    return NodeSpec(url=f"http://{name}", id=name, engine="plain", models=(MODEL,), slots=slots)


def _declared(spec: NodeSpec, kind: NodeKind, profile: EngineProfile) -> NodeSpec:
    return msgspec.structs.replace(
        spec,
        slots=profile.limits.max_num_seqs,
        hardware=kind.gpu,
        profile=kind.profile,
        tensor_parallel=kind.tp,
    )


def reporting(nodes: Iterable[Node]) -> tuple[Node, ...]:
    """The same nodes, telling how their caches change. Raises ValueError where requests have no one name for blocks."""
    nodes = tuple(nodes)
    if any(isinstance(node.profile, PlainProfile) for node in nodes):
        raise ValueError("plain servers have no cache to report")
    if len({node.block_tokens for node in nodes}) > 1:
        raise ValueError("nodes that report their caches need blocks of one size here")
    return tuple(
        msgspec.structs.replace(
            node,
            spec=msgspec.structs.replace(node.spec, residency="reported"),
            profile=msgspec.structs.replace(node.profile, kv_events=True),
        )
        for node in nodes
    )


def obedient(nodes: Iterable[Node]) -> tuple[Node, ...]:
    """The same nodes, evicting what they are told to. Raises ValueError for plain servers."""
    return tuple(_obedient(node) for node in nodes)


def _obedient(node: Node) -> Node:
    if isinstance(node.profile, PlainProfile):
        raise ValueError("plain servers have no cache to command")
    limits = msgspec.structs.replace(node.profile.limits, obeys=True)
    return msgspec.structs.replace(
        node,
        spec=msgspec.structs.replace(node.spec, residency="commanded"),
        profile=msgspec.structs.replace(node.profile, limits=limits),
    )


def reported_blocks(nodes: Iterable[Node]) -> int:
    """Tokens of the blocks by which nodes report their caches; 0 if none does."""
    return next((node.block_tokens for node in nodes if node.spec.residency == "reported"), 0)


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
