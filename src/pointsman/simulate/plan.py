"""From settings to experiments: the fleet, and for each seed the demand at the pace asked for."""

import msgspec

from pointsman.brain.policies.base import Policy
from pointsman.config.flags import ConfigError
from pointsman.config.sim import SimConfig, check_pace, check_trace_settings, fleet_of, incidents_of, sim_trace
from pointsman.sim.clients import Habits
from pointsman.sim.cluster import by_session, in_turn
from pointsman.sim.demand import Demand, session_demand, trace_demand
from pointsman.sim.experiment import Experiment
from pointsman.sim.fleet import Node
from pointsman.sim.gateway import Delays
from pointsman.sim.incidents import Incidents
from pointsman.sim.saturation import fleet_saturation, session_samples
from pointsman.sim.summary import Slo
from pointsman.workload.rows import Trace, TraceError
from pointsman.workload.traces import at_rate
from pointsman.workload.turns import with_pauses

USUAL_LOAD = 0.7


class Plan(msgspec.Struct, frozen=True):
    """The fleet and the demands, one a seed, equal for all policies. `seconds`: how long requests are sent.

    `rate`: requests per second planned for, None for those of a trace.
    """

    config: SimConfig
    nodes: tuple[Node, ...]
    incidents: Incidents
    demands: tuple[Demand, ...]
    seconds: float
    rate: float | None = None

    def settled(self) -> SimConfig:
        """The settings with the rate that the plan worked out: whoever plans again need not measure the fleet."""
        return self.config if self.rate is None else msgspec.structs.replace(self.config, rate=self.rate, load=None)

    def experiment(self, policy: Policy, number: int) -> Experiment:
        """The run of `policy` on demand `number`, from 0."""
        config = self.config
        return Experiment(
            nodes=self.nodes,
            demand=self.demands[number],
            policy=policy,
            settings=config.brain,
            seconds=self.seconds,
            warm_up=config.warm_up,
            delays=Delays(config.feedback_delay_s, config.report_delay_s),
            habits=Habits(config.plain, config.leaving, config.leaving_after_s),
            slo=Slo(config.slo_ttft_s, config.slo_tpot_s),
            incidents=self.incidents,
            gateways=config.gateways,
            spread=by_session if config.spread == "by_session" else in_turn,
            seed=config.seed + number,
        )


def planned(config: SimConfig) -> Plan:
    """The plan that the settings ask for. Raises ConfigError for settings that cannot be used."""
    check_pace(config)
    check_trace_settings(config)
    nodes = fleet_of(config)
    incidents = incidents_of(config, nodes)
    most_tokens = min(node.profile.max_model_len for node in nodes)
    seconds, rate = config.seconds, None
    trace = sim_trace(config)
    if trace is not None:
        paced = _paced(trace if config.open_loop else with_pauses(trace), config)
        seconds = min(seconds, _lasts(paced) or seconds)
        demands = (trace_demand(paced, seconds, most_tokens, open_loop=config.open_loop),) * config.seeds
    else:
        rate = config.rate or (config.load or USUAL_LOAD) * saturation(nodes, config.seed)
        seeds = range(config.seed, config.seed + config.seeds)
        demands = tuple(session_demand(seed, rate, seconds, most_tokens) for seed in seeds)
    if not all(one.dialogues for one in demands):
        raise ConfigError(f"`seconds`: no request is sent in {config.seconds:g} s; give more time or a higher rate")
    return Plan(config, nodes, incidents, demands, seconds, rate)


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


def saturation(nodes: tuple[Node, ...], seed: int) -> float:
    """Requests per second of generated dialogues that the fleet could finish."""
    block_tokens = nodes[0].profile.limits.block_size
    return fleet_saturation((node.profile for node in nodes), session_samples(seed, block_tokens))
