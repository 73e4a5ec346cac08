"""The stage: an uneven fleet, one node of which degrades and recovers while the load goes on.

Two engines are fast and two are three times slower, as in a fleet bought over several years. One fast engine loses
three quarters of its speed (a throttled GPU, a noisy neighbour) between 35 % and 65 % of the run. Nobody tells the
gateway any of this: whoever sends every node the same share overloads the slow ones, and whoever trusts an old
measurement overloads the degraded one.
"""

import msgspec

from pointsman.engine.settings import EngineConfig

ENGINE = EngineConfig(
    profile="Qwen2.5-72B",
    gpu="H100",
    tp=8,
    max_num_seqs=64,  # what the gateway assumes of an engine that does not say
    max_num_batched_tokens=2048,
    max_model_len=32_768,
    stream_interval=4,  # tokens per streamed chunk: it keeps client and gateway far from their own limits
)


class Node(msgspec.Struct, frozen=True):
    """One emulated engine. `speed`: relative to the profile."""

    name: str
    speed: float

    def engine(self, port: int = 0, time_scale: float = 1.0) -> EngineConfig:
        """The settings of its engine."""
        return msgspec.structs.replace(ENGINE, speed=round(self.speed, 6), port=port, time_scale=time_scale)


class Fault(msgspec.Struct, frozen=True):
    """One node becomes `factor` times slower between two shares of the run."""

    node: str
    factor: float
    begins: float
    ends: float


class Scene(msgspec.Struct, frozen=True):
    """Who serves, and what happens to them. `warm_up`: share of the run that is load but not measured."""

    nodes: tuple[Node, ...]
    fault: Fault
    warm_up: float

    def capacity(self) -> dict[str, float]:
        """Mean relative speed of each node over the run, the fault included."""
        lost = (self.fault.ends - self.fault.begins) * (1 - 1 / self.fault.factor)
        return {node.name: node.speed * (1 - lost if node.name == self.fault.node else 1) for node in self.nodes}


SLOWDOWN = 3.0
SCENE = Scene(
    nodes=(
        Node("fast-1", 1.0),
        Node("fast-2", 1.0),
        Node("slow-1", 1 / SLOWDOWN),
        Node("slow-2", 1 / SLOWDOWN),
    ),
    fault=Fault(node="fast-2", factor=4.0, begins=0.35, ends=0.65),
    warm_up=0.25,
)
