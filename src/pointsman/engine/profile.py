"""An engine's speed and size, worked out from its settings."""

from collections.abc import Callable
from typing import TypeVar

import msgspec

from pointsman.brain.costs.block_size import tokens_in
from pointsman.brain.costs.geometry import kv_bytes_per_token, kv_capacity_tokens, kv_replicas
from pointsman.brain.costs.hardware import GIB, HARDWARE, Hardware
from pointsman.brain.costs.models import MODELS, ModelShape
from pointsman.brain.costs.step_time import Linear, Roofline, StepTime
from pointsman.engine.core import Core, Limits, StepResult
from pointsman.engine.macro import MacroTimeline
from pointsman.engine.settings import EngineConfig
from pointsman.engine.swap import Tier
from pointsman.engine.timeline import Timeline

T = TypeVar("T")
DEFAULT_MODEL_LEN = 32768
Deliver = Callable[[float, StepResult], None]


class EngineProfile(msgspec.Struct, frozen=True, kw_only=True):
    """What makes one engine differ from another. `slowdown` multiplies every step's time.

    `kv_events`: results of its steps tell how its prefix cache changed.
    """

    name: str
    limits: Limits
    step_time: StepTime
    slowdown: float
    overhead_seconds: float
    max_model_len: int
    kv_events: bool = False

    def core(self) -> Core:
        """A fresh engine of this profile, to be stepped."""
        return Core(self.limits, self.step_time, self.slowdown, kv_events=self.kv_events)

    def timeline(self, deliver: Deliver, *, exact: bool = False) -> Timeline | MacroTimeline:
        """A fresh engine of this profile on a line of time, many steps at a time unless `exact`.

        It takes sequences that tell their blocks as `runs`. Only if `exact`, every token is delivered. So is an engine
        that tells of each block, or obeys about each, as it has to be looked at step by step.
        """
        if exact or self.kv_events or self.limits.obeys:
            return Timeline(self.core(), deliver, self.overhead_seconds)
        return MacroTimeline(self.limits, self.step_time, self.slowdown, deliver, self.overhead_seconds)


class Catalogue:
    """The models and GPUs that are built in, by name."""

    def model(self, name: str) -> ModelShape:
        """Raises ValueError for an unknown name."""
        return _known(MODELS, name, "profile")

    def gpu(self, name: str) -> Hardware:
        """Raises ValueError for an unknown name."""
        return _known(HARDWARE, name, "gpu")


BUILT_IN = Catalogue()


def profile_of(config: EngineConfig, catalogue: Catalogue = BUILT_IN) -> EngineProfile:
    """The profile `config` describes, its names looked up in `catalogue`. Raises ValueError for unknown names."""
    shape = catalogue.model(config.profile)
    gpu = _scaled(catalogue.gpu(config.gpu), config)
    limits = _limits(config, shape, gpu)
    capacity = limits.blocks * limits.block_size
    return EngineProfile(
        name=shape.name,
        limits=limits,
        step_time=_step_time(config, shape, gpu),
        slowdown=1.0 / config.speed,
        overhead_seconds=config.overhead_ms / 1000,
        max_model_len=min(config.max_model_len or DEFAULT_MODEL_LEN, capacity),
        kv_events=bool(config.kv_events),
    )


def _scaled(gpu: Hardware, config: EngineConfig) -> Hardware:
    """The GPU as fast as measurements have shown it to be."""
    return msgspec.structs.replace(
        gpu, bandwidth=gpu.bandwidth * config.bandwidth_scale, flops=gpu.flops * config.compute_scale
    )


def _known(table: dict[str, T], name: str, what: str) -> T:
    if name not in table:
        raise ValueError(f"unknown {what} {name!r}: choose one of {', '.join(table)}")
    return table[name]


def _limits(config: EngineConfig, shape: ModelShape, gpu: Hardware) -> Limits:
    """vLLM's server defaults: 8192 tokens and 1024 sequences on large GPUs but the A100, else 2048 and 256."""
    large = gpu.memory_bytes >= 70 * GIB and not gpu.name.startswith("A100")
    size = _block_size(config, shape)
    blocks = config.kv_blocks or kv_capacity_tokens(shape, gpu, config.tp) // size
    return Limits(
        blocks=blocks,
        block_size=size,
        max_num_seqs=config.max_num_seqs or (1024 if large else 256),
        max_num_batched_tokens=config.max_num_batched_tokens or (8192 if large else 2048),
        by_priority=config.scheduling_policy == "priority",
        tiers=_tiers(config, shape),
        obeys=config.obeys,
    )


def _block_size(config: EngineConfig, shape: ModelShape) -> int:
    """Tokens in a block."""
    return config.block_size if config.block_mib is None else tokens_in(config.block_mib, shape, config.tp)


def _tiers(config: EngineConfig, shape: ModelShape) -> tuple[Tier, ...]:
    """CPU memory before the disk, as far as there is any."""
    block = kv_bytes_per_token(shape) * kv_replicas(shape, config.tp) * _block_size(config, shape)
    memory, disk = (config.swap_memory_gib, config.swap_memory_gbps), (config.swap_disk_gib, config.swap_disk_gbps)
    return tuple(Tier(int(gib * GIB / block), block / (gbps * 1e9)) for gib, gbps in (memory, disk) if gib)


def _step_time(config: EngineConfig, shape: ModelShape, gpu: Hardware) -> StepTime:
    if config.prefill_tokens_per_second is None and config.decode_base_ms is None:
        return Roofline(shape, gpu, config.tp)
    if config.prefill_tokens_per_second is None or config.decode_base_ms is None:
        raise ValueError("measured timing needs both prefill_tokens_per_second and decode_base_ms")
    return Linear(config.decode_base_ms / 1000, config.decode_per_sequence_ms / 1000, config.prefill_tokens_per_second)
