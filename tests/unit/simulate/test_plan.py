"""From settings to experiments."""

from pointsman.brain.policies.registry import build
from pointsman.config.sim import SimConfig
from pointsman.sim.delays import Delays
from pointsman.simulate.plan import planned


def test_every_seed_has_its_own_demand_equal_for_all_policies() -> None:
    plan = planned(SimConfig(seeds=2, rate=4.0, seconds=30.0))
    assert plan.demands[0] != plan.demands[1]
    one, other = (plan.experiment(build(name), 1) for name in ("round_robin", "jffc"))
    assert one.demand is other.demand
    assert one.seed == 2


def test_settings_reach_the_experiment() -> None:
    config = SimConfig(rate=4.0, seconds=30.0, plain=0.5, feedback_delay_s=0.1, report_delay_s=1.0, slo_ttft_s=1.0)
    experiment = planned(config).experiment(build("jffc"), 0)
    assert (experiment.habits.plain, experiment.delays, experiment.slo.ttft_s) == (0.5, Delays(0.1, 1.0), 1.0)
