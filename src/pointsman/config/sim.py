"""Settings of every `pointsman sim` command, and of `run`."""

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal

import msgspec
from msgspec import Meta

from pointsman.brain.model.node import Residency
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.model.tenant import Tenant
from pointsman.brain.policies.base import Policy
from pointsman.brain.policies.registry import POLICIES, UnknownPolicy, build
from pointsman.config.catalogue import Files
from pointsman.config.flags import ConfigError, File, Name, Span
from pointsman.engine.settings import Positive, PositiveFloat
from pointsman.sim.fleet import MOST_NODES, Node, NodeKind, nodes_of, obedient, reporting, resized
from pointsman.sim.incidents import Drain, Failure, Incident, Incidents, Slowdown, problem_of
from pointsman.sim.presets import FLEETS
from pointsman.workload.kinds import ClientKind
from pointsman.workload.presets import WORKLOADS

Nodes = Annotated[int, Meta(ge=1, le=MOST_NODES)]
Delay = Annotated[float, Meta(ge=0, le=60)]
OnOff = Literal["off", "on"]
SpreadName = Literal["in_turn", "by_session"]
ArrivalsName = Literal["poisson", "gamma", "weibull", "modulated", "ramp", "trace"]
Part = Literal["all", "first_half", "second_half"]


class SimConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A workload on a fleet. Scalars are flags too; nodes, parameters and `brain` belong in the file."""

    fleet: Annotated[Name, Meta(description=f"preset of nodes: {', '.join(FLEETS)}")] = "uneven"
    nodes: Annotated[Nodes | None, Meta(description="nodes in all, in the fleet's proportions")] = None
    node: tuple[NodeKind, ...] = ()
    slowdown: tuple[Slowdown, ...] = ()
    failure: tuple[Failure, ...] = ()
    drain: tuple[Drain, ...] = ()
    gateways: Annotated[int, Meta(ge=1, le=64, description="gateways before the nodes, each with its own view")] = 1
    spread: Annotated[SpreadName, Meta(description="how requests come to several gateways")] = "in_turn"
    sharing_s: Annotated[Delay, Meta(description="how often these tell each other what they booked; 0: never")] = 0.0
    declare: Annotated[bool, Meta(description="tell the gateway the nodes' slots, models and hardware")] = False
    workload: Annotated[
        Name | None, Meta(description=f"preset of clients: {', '.join(WORKLOADS)} (default: assistant)")
    ] = None
    clients: tuple[ClientKind, ...] = ()
    arrivals: Annotated[
        ArrivalsName | None,
        Meta(description="law by which dialogues begin; `trace`: with the gaps of the trace"),
    ] = None
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
    jitter_s: Annotated[Span, Meta(description="move dialogues by up to so much, otherwise for each seed")] = 0.0
    trace_model: Annotated[Name, Meta(description="only the trace's requests for this model")] = ""
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
    resume: Annotated[OnOff, Meta(description="whether a stream that loses its node goes on elsewhere")] = "off"
    feedback_delay_s: Annotated[Delay, Meta(description="how late tokens and ends of answers are known")] = 0.0
    report_delay_s: Annotated[Delay, Meta(description="how late the answer to a probe is known")] = 0.0
    residency: Annotated[
        Residency,
        Meta(description="how gateways know what nodes have cached: from what they sent, from KV events, or by orders"),
    ] = "believed"
    event_delay_s: Annotated[Delay, Meta(description="how late KV events are known")] = 0.0
    event_loss: Annotated[float, Meta(ge=0, lt=1, description="share of the batches of KV events that get lost")] = 0.0
    slo_ttft_s: Annotated[float, Meta(gt=0, description="goodput: longest time to the first token")] = 5.0
    slo_tpot_s: Annotated[float, Meta(gt=0, description="goodput: longest time per further token")] = 0.1
    parameters: Annotated[
        dict[str, dict[str, Any]], Meta(description="parameters of policies by name; `policy` makes a name a variant's")
    ] = {}
    tenants: tuple[Tenant, ...] = ()
    brain: BrainSettings = BrainSettings()
    json: Annotated[bool, Meta(description="print JSON on stdout and nothing else")] = False

    @property
    def traces(self) -> tuple[str, ...]:
        """The files whose requests are run; none where they are generated."""
        return (self.trace,) if self.trace else ()


class RunConfig(SimConfig, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`pointsman sim run`: one policy, looked at closely."""

    policy: Annotated[Name, Meta(description="the policy")] = "fastest_completion"
    journal: Annotated[File, Meta(description="write every decision's inputs here, for `pointsman replay`")] = ""
    recording: Annotated[File, Meta(description="record the traffic here, as `pointsman serve` does")] = ""
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
        nodes = nodes_of(kinds, declare=config.declare, catalogue=Files())
    except ValueError as error:
        raise ConfigError(f"`node`: {error}") from None
    try:
        if config.residency == "believed":
            return nodes
        return reporting(nodes) if config.residency == "reported" else obedient(nodes)
    except ValueError as error:
        raise ConfigError(f"`residency`: {error}") from None


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
    _check_parameters(config)
    kind, parameters = variant(config, name)
    try:
        return build(kind, parameters)
    except UnknownPolicy as error:
        raise ConfigError(f"`{key}`: {error}") from None


def variant(config: SimConfig, name: str) -> tuple[str, dict[str, Any]]:
    """Which policy `name` is, and its parameters: a table of `parameters` with `policy` gives one a name of its own."""
    parameters = config.parameters.get(name, {})
    if name in POLICIES or not isinstance(parameters.get("policy"), str):
        return name, parameters
    return parameters["policy"], {key: value for key, value in parameters.items() if key != "policy"}


def _check_parameters(config: SimConfig) -> None:
    """Whether every table of parameters is some policy's. Raises ConfigError."""
    for name, parameters in config.parameters.items():
        if name not in POLICIES and "policy" not in parameters:
            near = difflib.get_close_matches(name, POLICIES, n=1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            raise ConfigError(f"`parameters.{name}`: no such policy; {hint}a variant's table says its `policy`")


def check_journal(config: RunConfig) -> None:
    """Whether there is one gateway for one journal. Raises ConfigError."""
    if config.journal and config.gateways > 1:
        raise ConfigError("`journal`: it holds the calls of one gateway, and there are several; leave one of them out")


def check_recording(config: RunConfig) -> None:
    """Whether there is one gateway and one run for one recording. Raises ConfigError."""
    if config.recording and config.gateways > 1:
        raise ConfigError("`recording`: it holds the requests of one gateway, and there are several; leave one out")
    if config.recording and config.seeds > 1:
        raise ConfigError("`recording`: it holds the requests of one run; give one seed")


def output_file(path: str, key: str) -> BinaryIO:
    """A file to be written, made empty. Raises ConfigError."""
    try:
        return Path(path).open("wb")
    except OSError as error:
        raise ConfigError(f"`{key}`: {path}: {error.strerror}") from None
