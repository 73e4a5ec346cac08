"""Settings of `pointsman sim run` and `pointsman sim compare`."""

from pathlib import Path
from typing import Annotated, Any, BinaryIO

import msgspec
from msgspec import Meta

from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.policies.base import Policy
from pointsman.brain.policies.registry import UnknownPolicy, build
from pointsman.config.demo import POLICIES
from pointsman.config.flags import ConfigError, File, Name, Names
from pointsman.config.traces import trace_file
from pointsman.engine.settings import PositiveFloat
from pointsman.sim.fleet import FLEETS, Node, NodeKind, Slowdown, nodes_of
from pointsman.workload.rows import Trace, TraceError

Delay = Annotated[float, Meta(ge=0, le=60)]


class SimConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A workload on a fleet. Scalars are flags too; nodes, parameters and `brain` belong in the file."""

    fleet: Annotated[Name, Meta(description=f"preset of nodes: {', '.join(FLEETS)}")] = "uneven"
    node: tuple[NodeKind, ...] = ()
    slowdown: tuple[Slowdown, ...] = ()
    declare: Annotated[bool, Meta(description="tell the gateway the nodes' slots, models and hardware")] = False
    trace: Annotated[File, Meta(description="trace to run (Mooncake, Bailian, Azure or BurstGPT), open loop")] = ""
    lenient: Annotated[bool, Meta(description="skip and count bad rows of the trace instead of stopping")] = False
    rate: Annotated[PositiveFloat | None, Meta(description="requests per second")] = None
    rate_factor: Annotated[PositiveFloat | None, Meta(description="pace of the trace; 1 is its own")] = None
    load: Annotated[PositiveFloat | None, Meta(description="share of the fleet's saturation (default: 0.7)")] = None
    seconds: Annotated[float, Meta(gt=0, description="simulated seconds in which requests are sent")] = 300.0
    warm_up: Annotated[float, Meta(ge=0, lt=1, description="share of them that is not measured")] = 0.2
    seed: Annotated[int, Meta(ge=0, description="first seed of arrivals, lengths and draws")] = 1
    seeds: Annotated[int, Meta(ge=1, description="runs of each policy, each with the next seed")] = 1
    plain: Annotated[float, Meta(ge=0, le=1, description="share of requests that ask for no stream")] = 0.0
    feedback_delay_s: Annotated[Delay, Meta(description="how late tokens and ends of answers are known")] = 0.0
    report_delay_s: Annotated[Delay, Meta(description="how late the answer to a probe is known")] = 0.0
    slo_ttft_s: Annotated[float, Meta(gt=0, description="goodput: longest time to the first token")] = 5.0
    slo_tpot_s: Annotated[float, Meta(gt=0, description="goodput: longest time per further token")] = 0.1
    parameters: Annotated[dict[str, dict[str, Any]], Meta(description="parameters of policies by name")] = {}
    brain: BrainSettings = BrainSettings()
    json: Annotated[bool, Meta(description="print JSON on stdout and nothing else")] = False


class RunConfig(SimConfig, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`pointsman sim run`: one policy, looked at closely."""

    policy: Annotated[Name, Meta(description="the policy")] = "fastest_completion"
    journal: Annotated[File, Meta(description="write every decision's inputs here, for `pointsman replay`")] = ""
    requests: Annotated[File, Meta(description="write what each request came to here, as JSON lines")] = ""


class CompareConfig(SimConfig, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`pointsman sim compare`: several policies on the same requests."""

    policies: Annotated[Names, Meta(min_length=1, description="policies to compare, in order")] = POLICIES


def fleet_of(config: SimConfig) -> tuple[Node, ...]:
    """The nodes of the file, else of the preset. Raises ConfigError."""
    if not config.node and config.fleet not in FLEETS:
        raise ConfigError(f"`fleet`: no preset named {config.fleet!r}; there are: {', '.join(FLEETS)}")
    try:
        return nodes_of(config.node or FLEETS[config.fleet], declare=config.declare)
    except ValueError as error:
        raise ConfigError(f"`node`: {error}") from None


def check_slowdowns(config: SimConfig, nodes: tuple[Node, ...]) -> None:
    """Whether the slowdowns can happen. Raises ConfigError for an unknown node and for an end before the beginning."""
    names = [node.name for node in nodes]
    for place, one in enumerate(config.slowdown):
        if one.node not in names:
            raise ConfigError(f"`slowdown[{place}].node`: no node named {one.node!r}; there are: {', '.join(names)}")
        if one.ends_s <= one.begins_s:
            raise ConfigError(f"`slowdown[{place}].ends_s`: {one.ends_s:g} is not after {one.begins_s:g}")


def built(config: SimConfig, name: str, key: str) -> Policy:
    """The policy with its parameters; `key` is the setting that names it. Raises ConfigError."""
    try:
        return build(name, config.parameters.get(name, {}))
    except UnknownPolicy as error:
        raise ConfigError(f"`{key}`: {error}") from None


def sim_trace(config: SimConfig) -> Trace | None:
    """The trace, if one is named. Raises ConfigError when it cannot be opened or read."""
    if not config.trace:
        return None
    try:
        return trace_file(config.trace, lenient=config.lenient)
    except TraceError as error:
        raise ConfigError(f"`trace`: {error}") from None


def check_pace(config: SimConfig) -> None:
    """Whether the settings say how fast requests come, and only once. Raises ConfigError."""
    given = [key for key in ("rate", "rate_factor", "load") if getattr(config, key) is not None]
    if len(given) > 1:
        raise ConfigError(f"`{given[1]}`: how fast requests come is said by `{given[0]}` already")
    if config.trace and config.load is not None:
        raise ConfigError("`load`: a trace has its own pace; change it by `rate` or `rate_factor`")
    if not config.trace and config.rate_factor is not None:
        raise ConfigError("`rate_factor`: there is no trace whose pace it could change")


def output_file(path: str, key: str) -> BinaryIO:
    """A file to be written, made empty. Raises ConfigError."""
    try:
        return Path(path).open("wb")
    except OSError as error:
        raise ConfigError(f"`{key}`: {path}: {error.strerror}") from None
