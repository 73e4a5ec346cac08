"""Settings of `pointsman cache replay`."""

from typing import Annotated

import msgspec
from msgspec import Meta

from pointsman.brain.cache.eviction import EVICTION_RULES, EvictionRule
from pointsman.brain.costs.step_time import StepTime
from pointsman.config.catalogue import Files
from pointsman.config.flags import ConfigError, File, Name, Names
from pointsman.config.traces import trace_file
from pointsman.engine.profile import profile_of
from pointsman.engine.settings import EngineConfig
from pointsman.workload.rows import Trace, TraceError

ALL = "all"
Capacity = Annotated[int, Meta(ge=1, le=100_000_000)]


class CacheReplayConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One cache under each rule. The profile only says what computing a block takes, which some rules weigh."""

    trace: Annotated[File, Meta(description="trace with hash_ids (Mooncake, Bailian or a recording)")] = ""
    lenient: Annotated[bool, Meta(description="skip and count bad rows of the trace instead of stopping")] = False
    blocks: Annotated[
        tuple[Capacity, ...], Meta(min_length=1, description="capacities to try, in blocks of the trace")
    ] = (3_000, 10_000, 30_000)
    rule: Annotated[Names, Meta(min_length=1, description=f"eviction rules, or {ALL}: {', '.join(EVICTION_RULES)}")] = (
        ALL,
    )
    profile: Annotated[Name, Meta(description="model whose prompts are computed")] = "Qwen2.5-72B"
    gpu: Annotated[Name, Meta(description="GPU that computes them")] = "A100-80G"
    tp: Annotated[int, Meta(ge=1, le=1024, description="tensor parallelism")] = 8
    json: Annotated[bool, Meta(description="print JSON on stdout and nothing else")] = False


def rules_of(config: CacheReplayConfig) -> tuple[EvictionRule, ...]:
    """The rules to compare. Raises ConfigError for an unknown one."""
    if config.rule == (ALL,):
        return tuple(EVICTION_RULES.values())
    for name in config.rule:
        if name not in EVICTION_RULES:
            raise ConfigError(f"`rule`: no eviction rule {name!r}; there are: {ALL}, {', '.join(EVICTION_RULES)}")
    return tuple(EVICTION_RULES[name] for name in config.rule)


def cached_trace(config: CacheReplayConfig) -> Trace:
    """The trace. Raises ConfigError where there is none, it cannot be read, or does not tell which blocks are equal."""
    if not config.trace:
        raise ConfigError("`trace`: name a trace that tells which blocks of prompts are equal: --trace FILE")
    try:
        trace = trace_file(config.trace, lenient=config.lenient)
    except TraceError as error:
        raise ConfigError(f"`trace`: {error}") from None
    if not any(row.block_ids for row in trace.rows):
        raise ConfigError(f"`trace`: {trace.name}: no request has hash_ids, so nothing tells which blocks are equal")
    return trace


def step_time_of(config: CacheReplayConfig) -> StepTime:
    """How long the engine's steps take. Raises ConfigError for an unknown model or GPU."""
    engine = EngineConfig(profile=config.profile, gpu=config.gpu, tp=config.tp)
    try:
        return profile_of(engine, Files()).step_time
    except ValueError as error:
        raise ConfigError(str(error)) from None
