"""Small simulated scenes: a quick fleet, requests one can count, and the journal of a run."""

import msgspec

from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.policies.registry import build
from pointsman.observe.calls import Call, Entry
from pointsman.sim.delays import Delays
from pointsman.sim.demand import Demand, Dialogue, RowAsk
from pointsman.sim.experiment import Experiment, Run, run
from pointsman.sim.fleet import Node, NodeKind, nodes_of
from pointsman.sim.generated import session_demand
from pointsman.sim.presets import FLEETS
from pointsman.workload.rows import TraceRow


def quick_nodes(count: int = 2, *, declare: bool = False, **more: object) -> tuple[Node, ...]:
    """Nodes that prefill 10,000 tokens a second and make a token every 10 ms."""
    settings: dict[str, object] = {"prefill_tokens_per_second": 10_000, "decode_base_ms": 10, "overhead_ms": 0}
    return nodes_of([NodeKind(name="n", count=count, **settings | more)], declare=declare)  # type: ignore[arg-type]


def rows_demand(*rows: tuple[float, int, int]) -> Demand:
    """Requests as (second, prompt tokens, output tokens), in order of time."""
    return Demand(tuple(Dialogue(row[0], "", (RowAsk(TraceRow(*row)),)) for row in rows), "rows")


def uneven(policy: str, *, rate: float = 12.0, seconds: float = 20.0, **more: object) -> Experiment:
    """Dialogues on the preset `uneven`."""
    return experiment(
        policy, session_demand(1, rate, seconds, 32_768), nodes_of(FLEETS["uneven"]), seconds=seconds, **more
    )


def experiment(policy: str, demand: Demand, nodes: tuple[Node, ...], **more: object) -> Experiment:
    settings: dict[str, object] = {"seconds": 20.0, "delays": Delays(), "settings": BrainSettings()}
    return Experiment(nodes=nodes, demand=demand, policy=build(policy), **settings | more)  # type: ignore[arg-type]


def journaled(what: Experiment) -> tuple[Run, list[bytes]]:
    """The run and its journal's lines."""
    lines: list[bytes] = []
    return run(what, lambda _second: None, lines.append), lines


def calls(lines: list[bytes]) -> list[Call]:
    """The calls of a journal."""
    return [msgspec.json.decode(line, type=Entry).call for line in lines]
