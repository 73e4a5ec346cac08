"""From settings to experiments: the fleet, and for each seed the demand at the pace asked for."""

import msgspec

from pointsman.brain.policies.base import Policy
from pointsman.config.sim import SimConfig, fleet_of, incidents_of
from pointsman.config.tenants import with_tenants
from pointsman.sim.cluster import by_session, in_turn
from pointsman.sim.delays import Delays
from pointsman.sim.demand import Demand
from pointsman.sim.experiment import Experiment
from pointsman.sim.fleet import Node
from pointsman.sim.habits import Habits
from pointsman.sim.incidents import Incidents
from pointsman.sim.kv_events import EventDelays
from pointsman.sim.summary import Slo
from pointsman.simulate.load import loaded


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
            settings=with_tenants(config.brain, config.tenants),
            seconds=self.seconds,
            warm_up=config.warm_up,
            delays=Delays(config.feedback_delay_s, config.report_delay_s),
            events=EventDelays(config.event_delay_s, config.event_loss),
            habits=Habits(config.plain, config.leaving, config.leaving_after_s),
            slo=Slo(config.slo_ttft_s, config.slo_tpot_s),
            incidents=self.incidents,
            gateways=config.gateways,
            spread=by_session if config.spread == "by_session" else in_turn,
            sharing_s=config.sharing_s,
            resume=config.resume == "on",
            seed=config.seed + number,
        )


def planned(config: SimConfig) -> Plan:
    """The plan that the settings ask for. Raises ConfigError for settings that cannot be used."""
    with_tenants(config.brain, config.tenants)
    nodes = fleet_of(config)
    incidents = incidents_of(config, nodes)
    load = loaded(config, nodes)
    return Plan(config, load.nodes, incidents, load.demands, load.seconds, load.rate)
