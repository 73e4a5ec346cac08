"""The stages: a fleet, what happens to it, what is asked of it, and who is compared there.

`uneven`: two engines are fast and two are three times slower, as in a fleet bought over several years. One fast engine
loses three quarters of its speed (a throttled GPU, a noisy neighbour) between 35 % and 65 % of the run. Nobody tells
the gateway any of this: whoever sends every node the same share overloads the slow ones, and whoever trusts an old
measurement overloads the degraded one.

`memory-tight`: four equal engines with little KV memory, and answers of thousands of tokens whose length nobody knows
beforehand. An engine that runs out preempts a stream it has begun and computes it again. `greedy` is the gateway's
manager of memory: a request goes only where its memory is free, and waits while it is free nowhere; of what is taken
it counts what all requests of a node are expected to hold when they hold most. The others are what
balancers do without one: they send it at once, wherever their rule says.
"""

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from pointsman.config.demo import POLICIES
from pointsman.engine.settings import EngineConfig
from pointsman.observe.columns import COLUMNS, Column
from pointsman.workload.kinds import ClientKind
from pointsman.workload.presets import WORKLOADS

from .figures import MEMORY_COLUMNS

ENGINE = EngineConfig(
    profile="Qwen2.5-72B",
    gpu="H100",
    tp=8,
    max_num_seqs=64,  # what the gateway assumes of an engine that does not say
    max_num_batched_tokens=2048,
    max_model_len=32_768,
    stream_interval=4,  # tokens per streamed chunk: it keeps client and gateway far from their own limits
)
TIGHT_ENGINE = msgspec.structs.replace(ENGINE, kv_blocks=3000, stream_interval=16)
"""Memory for one and a half of the longest requests; its answers are long, so that larger chunks will do."""


class Node(msgspec.Struct, frozen=True):
    """One emulated engine. `speed`: relative to the profile of `kind`."""

    name: str
    speed: float
    kind: EngineConfig = ENGINE

    def engine(self, port: int = 0, time_scale: float = 1.0) -> EngineConfig:
        """The settings of its engine."""
        return msgspec.structs.replace(self.kind, speed=round(self.speed, 6), port=port, time_scale=time_scale)


class Fault(msgspec.Struct, frozen=True):
    """One node becomes `factor` times slower between two shares of the run."""

    node: str
    factor: float
    begins: float
    ends: float


class Scene(msgspec.Struct, frozen=True):
    """Who serves, and what happens to them. `warm_up`: share of the run that is load but not measured.

    `policies`, `load` and `seconds` are what is compared, and how, unless the user wants something else. `brain`: what
    the gateways are told beside the usual. `lengths_told`: whether clients say how long their answers will be.
    `lateness_bound_s`: how late its clients may be at P99 (engine seconds): a tenth of the differences it is about.
    `columns` and `remarks` are of what it tells.
    """

    nodes: tuple[Node, ...]
    fault: Fault | None
    warm_up: float
    name: str = "uneven"
    title: str = "Policies on an uneven fleet, one node of which degrades and recovers"
    clients: ClientKind = WORKLOADS["assistant"][0]
    policies: tuple[str, ...] = POLICIES
    load: float = 0.7
    seconds: float = 11.0
    brain: Mapping[str, float | str] = MappingProxyType({})
    lengths_told: bool = True
    lateness_bound_s: float = 0.1
    columns: tuple[Column, ...] = COLUMNS
    remarks: tuple[str, ...] = ()

    def capacity(self) -> dict[str, float]:
        """Mean relative speed of each node over the run, the fault included."""
        speeds = {node.name: node.speed for node in self.nodes}
        if self.fault is not None:
            speeds[self.fault.node] *= 1 - (self.fault.ends - self.fault.begins) * (1 - 1 / self.fault.factor)
        return speeds


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
MEMORY_TIGHT = Scene(
    nodes=tuple(Node(f"tight-{number}", 1.0, TIGHT_ENGINE) for number in range(1, 5)),
    fault=None,
    warm_up=0.2,
    name="memory-tight",
    title="Engines short of KV memory: with the gateway's manager of memory (greedy), and without",
    clients=WORKLOADS["reasoning"][0],
    policies=("round_robin", "least_requests", "fastest_completion", "greedy"),
    load=1.5,
    seconds=20.0,
    brain=MappingProxyType({"queue_timeout_s": 300.0, "reserve": "peak"}),
    lengths_told=False,
    lateness_bound_s=0.5,
    columns=MEMORY_COLUMNS,
    remarks=(
        "Preemptions are counted by the engines themselves, over the whole run",
        "Goodput: answers per second whose first token came within 5 s and whose tokens took 100 ms at most on average",
        "greedy places a request only where its memory is free beside what the requests there are expected to hold at "
        "their peak (brain.reserve); the others never ask for memory. Nobody is told how long an answer will be",
    ),
)
SCENES = {"uneven": SCENE, "memory-tight": MEMORY_TIGHT}
