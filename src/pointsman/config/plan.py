"""Settings of `pointsman plan chains`."""

from typing import Annotated

import msgspec
from msgspec import Meta

from pointsman.brain.policies.base import Policy
from pointsman.brain.policies.registry import UnknownPolicy, build
from pointsman.chains.model import Amount, Positive, Server, Service
from pointsman.config.flags import ConfigError, Names

PositiveInt = Annotated[int, Meta(ge=1, le=10**9)]

RULES = (
    "fastest_free",
    "fastest_free_batched",
    "sed",
    "sa_jsq",
    "least_requests",
    "jiq",
    "weighted_random",
)

EXAMPLE = """\
rate = 0.5               # jobs per second
[service]
blocks = 80
block_gb = 1.75          # parameters of one block
job_gb = 0.02            # cache of one job in one block
[[server]]
name = "large"
count = 4
memory_gb = 80
block_s = 0.05           # a mean job's seconds of computing per block
communication_s = 0.5    # a mean job's seconds of messages to here and back
"""
"""What --help shows."""


class ServiceKind(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The model: `blocks` equal blocks of `block_gb` parameters; a job holds `job_gb` of cache per block, reserved
    for its longest sequence. The rest describes a mean job, for servers that give speeds instead of times.
    """

    blocks: Annotated[int, Meta(ge=1, le=100_000, description="equal blocks of the model")]
    block_gb: Annotated[Positive, Meta(description="parameters of one block")]
    job_gb: Annotated[Positive, Meta(description="cache of one job in one block")]
    input_tokens: Annotated[Amount, Meta(description="mean prompt")] = 0.0
    output_tokens: Annotated[float, Meta(ge=1, le=1e9, description="mean answer")] = 1.0
    gflop_per_token: Annotated[Amount, Meta(description="computing of one block for one token")] = 0.0
    overhead_s: Annotated[Amount, Meta(description="fixed time per block and job")] = 0.001
    serialisation_s: Annotated[Amount, Meta(description="per token and server, besides the round trip")] = 0.018


class ServerKind(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`count` equal servers. Give `block_s` (a mean job's computing per block) or `tflops` and `bandwidth_gb_s`;
    `communication_s` (a mean job's messages to here and back) or `round_trip_s`, which every output token takes.
    """

    name: Annotated[str, Meta(description="what the plan calls it; numbered if there are several")]
    count: Annotated[int, Meta(ge=1, le=1000, description="how many of them")] = 1
    memory_gb: Annotated[Positive, Meta(description="memory for parameters and cache")]
    block_s: Annotated[Positive | None, Meta(description="a mean job's seconds of computing per block")] = None
    tflops: Annotated[Positive | None, Meta(description="computing speed, which bounds prefill")] = None
    bandwidth_gb_s: Annotated[Positive | None, Meta(description="memory speed, which bounds decoding")] = None
    communication_s: Annotated[Amount | None, Meta(description="a mean job's seconds of messages")] = None
    round_trip_s: Annotated[Amount | None, Meta(description="to the server and back, for each output token")] = None


class ChainsConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Scalars are flags too; `[service]`, `[[server]]` and `loads` belong in the file."""

    service: ServiceKind | None = None
    server: tuple[ServerKind, ...] = ()
    rate: Annotated[Positive | None, Meta(description="jobs per second to plan for")] = None
    target_load: Annotated[
        float, Meta(gt=0, le=1, description="stop adding chains when they are this full at the rate")
    ] = 0.7
    reserved: Annotated[
        PositiveInt | None, Meta(description="jobs to keep cache for beside each block; the best number if not given")
    ] = None
    simulate: Annotated[bool, Meta(description="send jobs through the chains under each policy")] = False
    policies: Annotated[Names, Meta(min_length=1, description="policies to simulate, in order")] = RULES
    loads: Annotated[
        tuple[Annotated[float, Meta(gt=0, lt=1)], ...], Meta(description="shares of capacity to simulate, not `rate`")
    ] = ()
    run_length: Annotated[int, Meta(ge=10, le=10_000_000, description="jobs in each simulated run")] = 8000
    seed: Annotated[int, Meta(ge=0, description="first seed of arrivals, sizes and draws")] = 1
    seeds: Annotated[int, Meta(ge=1, le=1000, description="runs of each policy, each with the next seed")] = 6
    slowdown: Annotated[
        float, Meta(ge=0, le=1, description="share of its time a job takes longer for each beside it on its chain")
    ] = 0.0
    json: Annotated[bool, Meta(description="print JSON on stdout and nothing else")] = False


def service_of(config: ChainsConfig) -> Service:
    """The model. Raises ConfigError when it is not described."""
    kind = config.service
    if kind is None:
        raise ConfigError("`service`: describe the model: [service] with blocks, block_gb and job_gb")
    return Service(kind.blocks, kind.block_gb, kind.job_gb)


def rate_of(config: ChainsConfig) -> float:
    """Jobs per second to plan for. Raises ConfigError when that is not said."""
    if config.rate is None:
        raise ConfigError("`rate`: say how many jobs come in a second, in the file or by --rate")
    return config.rate


def servers_of(config: ChainsConfig) -> tuple[Server, ...]:
    """Every server by itself; those of a kind of several are numbered. Raises ConfigError."""
    if not config.server or config.service is None:
        raise ConfigError("`server`: name the servers: [[server]] with memory_gb, block_s and communication_s")
    servers = [
        Server(name, kind.memory_gb, _communication(kind, place, config.service), _block(kind, place, config.service))
        for place, kind in enumerate(config.server)
        for name in ([kind.name] if kind.count == 1 else [f"{kind.name}-{one}" for one in range(1, kind.count + 1)])
    ]
    for place, server in enumerate(servers):
        if server.name in {other.name for other in servers[:place]}:
            raise ConfigError(f"`server`: two are named {server.name!r}; give each its own name")
    return tuple(servers)


def rules_of(config: ChainsConfig) -> list[Policy]:
    """The policies to simulate. Raises ConfigError."""
    try:
        return [build(name) for name in config.policies]
    except UnknownPolicy as error:
        raise ConfigError(f"`policies`: {error}") from None


def _communication(kind: ServerKind, place: int, service: ServiceKind) -> float:
    if (kind.communication_s is None) == (kind.round_trip_s is None):
        raise ConfigError(f"`server[{place}]`: give either `communication_s` or `round_trip_s`")
    if kind.communication_s is not None:
        return kind.communication_s
    return ((kind.round_trip_s or 0.0) + service.serialisation_s) * service.output_tokens


def _block(kind: ServerKind, place: int, service: ServiceKind) -> float:
    """Prefill is bound by computing, each further token by reading the block's parameters."""
    if kind.block_s is not None:
        if kind.tflops or kind.bandwidth_gb_s:
            raise ConfigError(f"`server[{place}].block_s`: `tflops` and `bandwidth_gb_s` say that already")
        return kind.block_s
    if kind.tflops is None or kind.bandwidth_gb_s is None:
        raise ConfigError(f"`server[{place}]`: give either `block_s` or both `tflops` and `bandwidth_gb_s`")
    prefill = service.gflop_per_token / (1000.0 * kind.tflops) * service.input_tokens
    return service.overhead_s + prefill + service.block_gb / kind.bandwidth_gb_s * (service.output_tokens - 1.0)
