"""From settings to a plan: how much the fleet can serve of this very workload, and a demand at a share of that."""

from collections.abc import Sequence

from pointsman.config.demo import DemoConfig, journal_folder
from pointsman.engine.profile import profile_of
from pointsman.engine.virtual import Sample, saturation_rps
from pointsman.workload.rows import Trace
from pointsman.workload.traces import leading

from .run import Plan
from .scene import ENGINE, SCENE, Scene
from .sessions import session_demand, session_samples
from .traced import trace_demand, trace_samples

MOST_TOKENS = ENGINE.max_model_len or 0
FIRST_GUESS_ROWS = 400
ROUNDS = 5


def planned(config: DemoConfig, trace: Trace | None) -> tuple[Plan, float]:
    """The plan, and the saturation rate (requests per engine second) of the undisturbed fleet it is built on."""
    seconds = config.seconds * config.time_scale
    if trace:
        saturation = _trace_saturation(trace, config.load, seconds)
        demand = trace_demand(trace, config.load * saturation, seconds, MOST_TOKENS)
    else:
        saturation = fleet_saturation(SCENE, session_samples(config.seed, ENGINE.block_size))
        demand = session_demand(config.seed, config.load * saturation, seconds)
    return Plan(SCENE, demand, seconds, config.time_scale, journal_folder(config)), saturation


def fleet_saturation(scene: Scene, samples: Sequence[Sample]) -> float:
    """Requests per engine second that the fleet finishes under permanent backlog, each node serving its own share.

    Each node is measured alone on the whole sample, so its prefix cache finds all the sharing there is: an upper bound,
    equal for every policy.
    """
    speeds = {node.speed: node for node in scene.nodes}
    rate = {speed: saturation_rps(profile_of(node.engine()), samples) for speed, node in speeds.items()}
    return sum(rate[node.speed] for node in scene.nodes)


def _trace_saturation(trace: Trace, load: float, seconds: float) -> float:
    """Of the very rows that will be replayed. Their number follows from it, so it is approached in half steps."""
    rows = FIRST_GUESS_ROWS
    saturation = 0.0
    for _ in range(ROUNDS):
        samples = trace_samples(leading(trace, rows), MOST_TOKENS, ENGINE.block_size)
        saturation = fleet_saturation(SCENE, samples)
        rows = max(2, round((rows + load * saturation * seconds) / 2))
    return saturation
