"""Settings of every `pointsman sim` command, and of `run`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal

import msgspec
from msgspec import Meta

from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.policies.base import Policy
from pointsman.brain.policies.registry import UnknownPolicy, build
from pointsman.config.catalogue import Files
from pointsman.config.flags import ConfigError, File, Name
from pointsman.config.traces import trace_file
from pointsman.engine.settings import Positive, PositiveFloat
from pointsman.sim.fleet import Node, NodeKind, nodes_of, resized
from pointsman.sim.incidents import Drain, Failure, Incident, Incidents, Slowdown, problem_of
from pointsman.sim.presets import FLEETS
from pointsman.workload.rows import Trace, TraceError
from pointsman.workload.timed_trace import TOKENS_PER_BLOCK, TimedTraceFormat
from pointsman.workload.traces import part_of, repeated

Delay = Annotated[float, Meta(ge=0, le=60)]
SpreadName = Literal["in_turn", "by_session"]
Part = Literal["all", "first_half", "second_half"]
OF_TRACES = (
    "lenient",
    "trace_block_tokens",
    "trace_unit",
    "part",
    "from_request",
    "requests_count",
    "open_loop",
    "repeat",
)
"""Settings that mean something beside a trace only."""


class SimConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A workload on a fleet. Scalars are flags too; nodes, parameters and `brain` belong in the file."""

    fleet: Annotated[Name, Meta(description=f"preset of nodes: {', '.join(FLEETS)}")] = "uneven"
    nodes: Annotated[Positive | None, Meta(description="nodes in all, in the fleet's proportions")] = None
    node: tuple[NodeKind, ...] = ()
    slowdown: tuple[Slowdown, ...] = ()
    failure: tuple[Failure, ...] = ()
    drain: tuple[Drain, ...] = ()
    gateways: Annotated[int, Meta(ge=1, le=64, description="gateways before the nodes, each with its own view")] = 1
    spread: Annotated[SpreadName, Meta(description="how requests come to several gateways")] = "in_turn"
    declare: Annotated[bool, Meta(description="tell the gateway the nodes' slots, models and hardware")] = False
    trace: Annotated[
        File, Meta(description="trace to run: Mooncake, Bailian, Azure, BurstGPT, vLLM's timed_trace or a recording")
    ] = ""
    lenient: Annotated[bool, Meta(description="skip and count bad rows of the trace instead of stopping")] = False
    trace_block_tokens: Annotated[
        Positive | None, Meta(description="timed_trace: tokens that a hash id stands for")
    ] = None
    trace_unit: Annotated[Literal["s", "ms"] | None, Meta(description="timed_trace: unit of its stamps")] = None
    part: Annotated[Part, Meta(description="part of the trace: tune on one half, report on the other")] = "all"
    from_request: Annotated[int, Meta(ge=0, description="leave out so many requests of that part")] = 0
    requests_count: Annotated[Positive | None, Meta(description="take no more than so many of the rest")] = None
    open_loop: Annotated[bool, Meta(description="send later turns of the trace's sessions when the trace says")] = False
    repeat: Annotated[int, Meta(ge=1, description="run what is taken so many times, one after the other")] = 1
    rate: Annotated[PositiveFloat | None, Meta(description="requests per second")] = None
    rate_factor: Annotated[PositiveFloat | None, Meta(description="pace of the trace; 1 is its own")] = None
    load: Annotated[PositiveFloat | None, Meta(description="share of the fleet's saturation (default: 0.7)")] = None
    seconds: Annotated[float, Meta(gt=0, description="simulated seconds in which requests are sent")] = 300.0
    warm_up: Annotated[float, Meta(ge=0, lt=1, description="share of them that is not measured")] = 0.2
    seed: Annotated[int, Meta(ge=0, description="first seed of arrivals, lengths and draws")] = 1
    seeds: Annotated[int, Meta(ge=1, description="runs of each policy, each with the next seed")] = 1
    plain: Annotated[float, Meta(ge=0, le=1, description="share of requests that ask for no stream")] = 0.0
    leaving: Annotated[float, Meta(ge=0, le=1, description="share of requests whose client may leave early")] = 0.0
    leaving_after_s: Annotated[float, Meta(gt=0, description="mean time after which it does, if not answered")] = 10.0
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


def fleet_of(config: SimConfig) -> tuple[Node, ...]:
    """The nodes of the file, else of the preset. Raises ConfigError."""
    if not config.node and config.fleet not in FLEETS:
        raise ConfigError(f"`fleet`: no preset named {config.fleet!r}; there are: {', '.join(FLEETS)}")
    try:
        kinds = config.node or FLEETS[config.fleet]
        kinds = resized(kinds, config.nodes) if config.nodes else kinds
    except ValueError as error:
        raise ConfigError(f"`nodes`: {error}") from None
    try:
        return nodes_of(kinds, declare=config.declare, catalogue=Files())
    except ValueError as error:
        raise ConfigError(f"`node`: {error}") from None


def incidents_of(config: SimConfig, nodes: Sequence[Node]) -> Incidents:
    """What happens to the nodes. Raises ConfigError for an unknown node, an end before the beginning, an overlap."""
    names = [node.name for node in nodes]
    found: tuple[tuple[str, Sequence[Incident]], ...]
    found = ("slowdown", config.slowdown), ("failure", config.failure), ("drain", config.drain)
    for key, incidents in found:
        problem = problem_of(incidents, names)
        if problem is not None:
            place, field, why = problem
            raise ConfigError(f"`{key}[{place}].{field}`: {why}")
    return Incidents(config.slowdown, config.failure, config.drain)


def built(config: SimConfig, name: str, key: str) -> Policy:
    """The policy with its parameters; `key` is the setting that names it. Raises ConfigError."""
    try:
        return build(name, config.parameters.get(name, {}))
    except UnknownPolicy as error:
        raise ConfigError(f"`{key}`: {error}") from None


def sim_trace(config: SimConfig) -> Trace | None:
    """The part of the trace that is asked for, if one is named. Raises ConfigError when it cannot be opened or read."""
    if not config.trace:
        return None
    try:
        whole = trace_file(config.trace, lenient=config.lenient, timed=_timed_trace(config))
        return repeated(_part(whole, config), config.repeat)
    except TraceError as error:
        raise ConfigError(f"`trace`: {error}") from None


def _timed_trace(config: SimConfig) -> TimedTraceFormat | None:
    if config.trace_block_tokens is None and config.trace_unit is None:
        return None
    return TimedTraceFormat(config.trace_block_tokens or TOKENS_PER_BLOCK, 1e-3 if config.trace_unit == "ms" else 1.0)


def _part(trace: Trace, config: SimConfig) -> Trace:
    half = len(trace.rows) // 2
    begin, end = {"all": (0, None), "first_half": (0, half), "second_half": (half, None)}[config.part]
    half_trace = part_of(trace, begin, end)
    return part_of(half_trace, config.from_request, config.requests_count)


def check_journal(config: RunConfig) -> None:
    """Whether there is one gateway for one journal. Raises ConfigError."""
    if config.journal and config.gateways > 1:
        raise ConfigError("`journal`: it holds the calls of one gateway, and there are several; leave one of them out")


def check_pace(config: SimConfig) -> None:
    """Whether the settings say how fast requests come, and only once. Raises ConfigError."""
    given = [key for key in ("rate", "rate_factor", "load") if getattr(config, key) is not None]
    if len(given) > 1:
        raise ConfigError(f"`{given[1]}`: how fast requests come is said by `{given[0]}` already")
    if config.trace and config.load is not None:
        raise ConfigError("`load`: a trace has its own pace; change it by `rate` or `rate_factor`")
    if not config.trace and config.rate_factor is not None:
        raise ConfigError("`rate_factor`: there is no trace whose pace it could change")


def check_trace_settings(config: SimConfig) -> None:
    """Whether there is a trace where settings speak of one. Raises ConfigError."""
    usual = SimConfig()
    for key in OF_TRACES:
        if not config.trace and getattr(config, key) != getattr(usual, key):
            raise ConfigError(f"`{key}`: there is no trace that it could concern; name one by `trace`")


def output_file(path: str, key: str) -> BinaryIO:
    """A file to be written, made empty. Raises ConfigError."""
    try:
        return Path(path).open("wb")
    except OSError as error:
        raise ConfigError(f"`{key}`: {path}: {error.strerror}") from None
