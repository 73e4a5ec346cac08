"""From settings to a plan: how much the fleet can serve of this very workload, and a demand at a share of that."""

from collections.abc import Sequence

from pointsman.config.demo import DemoConfig, journal_folder
from pointsman.engine.profile import profile_of
from pointsman.engine.virtual import Sample
from pointsman.sim.saturation import fleet_saturation, session_samples
from pointsman.workload.rows import Trace
from pointsman.workload.traces import leading

from .run import Plan
from .scene import ENGINE, SCENES, Scene
from .sessions import session_demand
from .traced import trace_demand, trace_samples

MOST_TOKENS = ENGINE.max_model_len or 0
FIRST_GUESS_ROWS = 400
WALL_RATE = 90.0
"""Requests per wall second that two CPUs carry with room to spare: client, gateway and engines use half of one."""
MOST_TIME_SCALE = 15.0
"""Above it, this machine's own milliseconds are no longer small against a step of an engine."""
ROUNDS = 5


def planned(config: DemoConfig, trace: Trace | None) -> tuple[Plan, float]:
    """The plan, and the saturation rate (requests per engine second) of the undisturbed fleet it is built on."""
    scene = SCENES[config.scene]
    load = load_of(config)
    saturation = scene_saturation(scene, _first_samples(config, scene, trace))
    scale = config.time_scale or time_scale_for(load * saturation)
    seconds = (config.seconds or scene.seconds) * scale
    if trace:
        saturation = _trace_saturation(scene, trace, load, seconds)
        demand = trace_demand(trace, load * saturation, seconds, MOST_TOKENS)
    else:
        demand = session_demand(config.seed, load * saturation, seconds, scene.clients, MOST_TOKENS)
    return Plan(scene, demand, seconds, scale, journal_folder(config)), saturation


def load_of(config: DemoConfig) -> float:
    """The load asked for, or the scene's."""
    return config.load or SCENES[config.scene].load


def policies_of(config: DemoConfig) -> tuple[str, ...]:
    """The policies asked for, or the scene's."""
    return config.policies or SCENES[config.scene].policies


def time_scale_for(requests_per_second: float) -> float:
    """Engine seconds per wall second at which a rate (per engine second) keeps this machine busy but never late.

    A slow demand can run faster, and so gives more requests to judge by in the same time.
    """
    return max(1.0, min(MOST_TIME_SCALE, round(WALL_RATE / requests_per_second)))


def scene_saturation(scene: Scene, samples: Sequence[Sample]) -> float:
    """Requests per engine second that the undisturbed fleet finishes under permanent backlog."""
    return fleet_saturation((profile_of(node.engine()) for node in scene.nodes), samples)


def _first_samples(config: DemoConfig, scene: Scene, trace: Trace | None) -> list[Sample]:
    if trace:
        return trace_samples(leading(trace, FIRST_GUESS_ROWS), MOST_TOKENS, ENGINE.block_size)
    return session_samples(config.seed, ENGINE.block_size, (scene.clients,), MOST_TOKENS)


def _trace_saturation(scene: Scene, trace: Trace, load: float, seconds: float) -> float:
    """Of the very rows that will be replayed. Their number follows from it, so it is approached in half steps."""
    rows = FIRST_GUESS_ROWS
    saturation = 0.0
    for _ in range(ROUNDS):
        samples = trace_samples(leading(trace, rows), MOST_TOKENS, ENGINE.block_size)
        saturation = scene_saturation(scene, samples)
        rows = max(2, round((rows + load * saturation * seconds) / 2))
    return saturation
