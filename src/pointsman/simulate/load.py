"""From settings to the demand of each seed: a trace at its pace, or generated at a share of what the fleet can do."""

from collections.abc import Sequence

import msgspec
import numpy as np

from pointsman.config.flags import ConfigError
from pointsman.config.sim import SimConfig
from pointsman.config.sim_load import (
    USUAL,
    USUAL_OF_PLAIN,
    check_pace,
    check_size,
    check_trace_settings,
    kinds_of,
    law_of,
    sim_trace,
)
from pointsman.sim.demand import Demand, trace_demand
from pointsman.sim.fleet import Node, serving
from pointsman.sim.generated import models_of, session_demand
from pointsman.sim.plain import PlainProfile
from pointsman.sim.saturation import fleet_saturation, session_samples
from pointsman.workload.jitter import jittered
from pointsman.workload.kinds import ClientKind
from pointsman.workload.rows import Trace, TraceError
from pointsman.workload.sessions import Moments
from pointsman.workload.traces import at_rate
from pointsman.workload.turns import with_pauses

USUAL_LOAD = 0.7


class Load(msgspec.Struct, frozen=True):
    """The demands, one a seed, and how long (seconds) they last. `nodes` serve all models that are asked for.

    `rate`: requests per second planned for, None for those of a trace.
    """

    nodes: tuple[Node, ...]
    demands: tuple[Demand, ...]
    seconds: float
    rate: float | None


def loaded(config: SimConfig, nodes: tuple[Node, ...]) -> Load:
    """The load that the settings ask for. Raises ConfigError for settings that cannot be used."""
    check_pace(config)
    check_trace_settings(config)
    usual = USUAL_OF_PLAIN if isinstance(nodes[0].profile, PlainProfile) else USUAL
    kinds, trace = kinds_of(config, usual), sim_trace(config)
    load = _traced(config, trace, nodes) if trace and kinds is None else _generated(config, kinds or (), trace, nodes)
    if not all(one.dialogues for one in load.demands):
        raise ConfigError(f"`seconds`: no request is sent in {config.seconds:g} s; give more time or a higher rate")
    return load


def _traced(config: SimConfig, trace: Trace, nodes: tuple[Node, ...]) -> Load:
    paced = _paced(trace if config.open_loop else with_pauses(trace), config)
    seconds = min(config.seconds, _lasts(paced) or config.seconds)
    most = most_tokens(nodes)

    def demand(seed: int) -> Demand:
        return trace_demand(jittered(paced, config.jitter_s, seed), seconds, most, open_loop=config.open_loop)

    seeds = range(config.seed, config.seed + config.seeds)
    demands = tuple(map(demand, seeds)) if config.jitter_s else (demand(config.seed),) * config.seeds
    return Load(nodes, demands, seconds, None)


def _generated(config: SimConfig, kinds: Sequence[ClientKind], trace: Trace | None, nodes: tuple[Node, ...]) -> Load:
    rate = config.rate or (config.load or USUAL_LOAD) * saturation(nodes, config.seed, kinds)
    check_size(config, rate)
    law, moments, most = law_of(config), _moments(trace), most_tokens(nodes)
    seeds = range(config.seed, config.seed + config.seeds)
    demands = tuple(session_demand(seed, rate, config.seconds, most, kinds, law, moments) for seed in seeds)
    return Load(serving(nodes, models_of(kinds)), demands, config.seconds, rate)


def saturation(nodes: Sequence[Node], seed: int, kinds: Sequence[ClientKind]) -> float:
    """Requests per second of these clients' dialogues that the fleet could finish.

    Raises ConfigError where no engine could take any of them.
    """
    samples = session_samples(seed, nodes[0].block_tokens, kinds, most_tokens(nodes))
    if not samples:
        raise ConfigError(f"`workload`: all its requests exceed the engines' limit of {most_tokens(nodes)} tokens")
    return fleet_saturation((node.profile for node in nodes), samples)


def most_tokens(nodes: Sequence[Node]) -> int:
    """Tokens of prompt and answer that every engine takes."""
    return min(node.most_tokens for node in nodes)


def _moments(trace: Trace | None) -> Moments | None:
    """When the trace's requests came, if there is one. Raises ConfigError if that was all at once."""
    if trace is None:
        return None
    if trace.seconds <= 0:
        raise ConfigError(f"`trace`: {trace.name}: {len(trace.rows)} requests at one instant have no gaps to arrive by")
    return np.array([row.arrival_s for row in trace.rows])


def _paced(trace: Trace, config: SimConfig) -> Trace:
    """The trace at the pace asked for; its own if none is."""
    if config.rate is None and config.rate_factor is None:
        return trace
    own = len(trace.rows) / trace.seconds if trace.seconds else 0.0
    try:
        return at_rate(trace, config.rate or (config.rate_factor or 1.0) * own)
    except TraceError as error:
        raise ConfigError(f"`trace`: {error}") from None


def _lasts(trace: Trace) -> float:
    """Seconds the trace lasts: to its last request, and as long again as requests are apart on average."""
    return trace.seconds * len(trace.rows) / max(1, len(trace.rows) - 1)
