"""A run whose engines take many steps at a time comes to the same as one in which they take one after the other."""

from random import Random

import msgspec
import pytest
from tests.support.simulated import experiment, quick_nodes, uneven

from pointsman.sim.delays import Delays
from pointsman.sim.demand import Demand, Dialogue, RowAsk
from pointsman.sim.experiment import Experiment, run
from pointsman.sim.record import Record
from pointsman.workload.rows import TraceRow


def agree(what: Experiment) -> None:
    macro, exact = (run(msgspec.structs.replace(what, exact=how), lambda _: None) for how in (False, True))
    assert [counts(record) for record in macro.records] == [counts(record) for record in exact.records]
    for one, other in zip(macro.records, exact.records, strict=True):
        assert moments(one) == pytest.approx(moments(other), rel=1e-9, abs=1e-9)
    for one, other in zip(macro.nodes, exact.nodes, strict=True):
        assert one.name == other.name
        assert msgspec.structs.astuple(one)[1:] == pytest.approx(msgspec.structs.astuple(other)[1:], rel=1e-9)


def counts(record: Record) -> list[object]:
    return [value for value in msgspec.structs.astuple(record) if not isinstance(value, float)]


def moments(record: Record) -> list[float]:
    return [value for value in msgspec.structs.astuple(record) if isinstance(value, float)]


@pytest.mark.parametrize("policy", ["round_robin", "two_choices", "least_requests", "fastest_completion"])
def test_dialogues_on_uneven_nodes(policy: str) -> None:
    agree(uneven(policy, rate=14.0, seconds=12.0, delays=Delays(0.01, 0.2)))


@pytest.mark.parametrize("seed", range(3))
def test_requests_on_nodes_with_too_few_blocks(seed: int) -> None:
    random, rows, now = Random(seed), [], 0.0
    for _ in range(150):
        now += random.expovariate(25.0)
        known = random.randint(0, 3)
        blocks = tuple(range(100 * known, 100 * known + random.randint(1, 12)))
        rows.append(TraceRow(now, 64 * len(blocks) + random.randint(0, 63), random.randint(1, 90), blocks, 64))
    demand = Demand(tuple(Dialogue(row.arrival_s, "", (RowAsk(row),)) for row in rows), "rows")
    nodes = quick_nodes(2, kv_blocks=200, decode_base_ms=10.1, decode_per_sequence_ms=0.037, overhead_ms=3.3)
    agree(experiment("least_requests", demand, nodes, seconds=now + 1))
