"""From settings to a plan: how much the fleet can serve of this very workload, and a demand at a share of that."""

from collections.abc import Sequence

from pointsman.config.demo import DemoConfig
from pointsman.engine.profile import profile_of
from pointsman.engine.virtual import Sample, saturation_rps
from pointsman.workload.rows import Trace

from .demand import Demand
from .run import Plan
from .scene import ENGINE, SCENE, Scene
from .sessions import session_demand, session_samples
from .traced import trace_demand, trace_samples

MOST_TOKENS = ENGINE.max_model_len or 0


def planned(config: DemoConfig, trace: Trace | None) -> tuple[Plan, float]:
    """The plan, and the saturation rate (requests per engine second) of the undisturbed fleet it is built on."""
    block = ENGINE.block_size
    samples = trace_samples(trace, MOST_TOKENS, block) if trace else session_samples(config.seed, block)
    saturation = fleet_saturation(SCENE, samples)
    seconds = config.seconds * config.time_scale
    demand = _demand(config, trace, config.load * saturation, seconds)
    return Plan(SCENE, demand, seconds, config.time_scale), saturation


def fleet_saturation(scene: Scene, samples: Sequence[Sample]) -> float:
    """Requests per engine second that the fleet finishes under permanent backlog, each node serving its own share.

    Each node is measured alone on the whole sample, so its prefix cache finds all the sharing there is: an upper bound,
    equal for every policy.
    """
    speeds = {node.speed: node for node in scene.nodes}
    rate = {speed: saturation_rps(profile_of(node.engine()), samples) for speed, node in speeds.items()}
    return sum(rate[node.speed] for node in scene.nodes)


def _demand(config: DemoConfig, trace: Trace | None, rate: float, seconds: float) -> Demand:
    if trace:
        return trace_demand(trace, rate, seconds, MOST_TOKENS)
    return session_demand(config.seed, rate, seconds)
