"""One run of many: what to simulate, so that any process can, and what it sends back."""

from functools import lru_cache

import msgspec

from pointsman.config.sim import SimConfig, built
from pointsman.sim.by_clients import ClientFigures
from pointsman.sim.disturbed import Disturbance, disturbed
from pointsman.sim.experiment import Run, Tick, run
from pointsman.sim.shape import Shape, shape_of
from pointsman.sim.summary import NodeFigures, Summary
from pointsman.simulate.plan import Plan, planned


class Case(msgspec.Struct, frozen=True):
    """A policy on the demand of one seed (`config.seeds` is 1). `label` tells it from others of its policy and seed.

    `shaped`: whether what figures are drawn from is wanted, too. `engines`: how they differ from their profiles.
    """

    config: SimConfig
    policy: str
    label: str = ""
    shaped: bool = False
    engines: Disturbance = Disturbance()

    @property
    def name(self) -> str:
        return ", ".join(part for part in (self.policy, self.label, f"seed {self.config.seed}") if part)


class Measured(msgspec.Struct, frozen=True):
    """What came of it, small enough to be sent between processes. `shape`: None unless wanted."""

    seed: int
    summary: Summary
    nodes: tuple[NodeFigures, ...]
    shape: Shape | None = None
    clients: tuple[ClientFigures, ...] = ()


def cases_of(config: SimConfig, policies: tuple[str, ...], label: str = "", *, shaped: bool = False) -> list[Case]:
    """Every policy on every seed: all policies of a seed, then the next, so that its demand is made once."""
    return [
        Case(msgspec.structs.replace(config, seed=config.seed + number, seeds=1), policy, label, shaped)
        for number in range(config.seeds)
        for policy in policies
    ]


def measure(case: Case, tick: Tick) -> Measured:
    """Run it. Raises ConfigError when a setting cannot be used."""
    policy = built(case.config, case.policy, "policies")
    experiment = _plan(msgspec.json.encode(case.config), type(case.config)).experiment(policy, 0)
    nodes = disturbed(experiment.nodes, case.engines)
    result = run(msgspec.structs.replace(experiment, nodes=nodes), tick)
    shape = shape_of(result.records, experiment.terms(), experiment.seconds) if case.shaped else None
    return measured(result, case.policy, case.config.seed, shape)


def measured(result: Run, name: str, seed: int, shape: Shape | None = None) -> Measured:
    """Of a run, what is told, under the name its policy goes by."""
    return Measured(seed, msgspec.structs.replace(result.summary, name=name), result.nodes, shape, result.clients)


@lru_cache(maxsize=1)  # plans are large, and cases come in their order
def _plan(config: bytes, kind: type[SimConfig]) -> Plan:
    return planned(msgspec.json.decode(config, type=kind))
