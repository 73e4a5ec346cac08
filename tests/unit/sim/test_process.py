"""What runs on a node."""

import pytest

from pointsman.brain.model.node import NodeSpec
from pointsman.engine.sequence import Sequence
from pointsman.sim.fleet import NodeKind, nodes_of
from pointsman.sim.plain import process_of
from pointsman.sim.process import Counters, EngineProcess


def test_counters_of_two_processes_add_up() -> None:
    later = Counters(prompt_tokens=2, busy_s=1.5).after(Counters(prompt_tokens=3, preemptions=1, busy_s=0.5))
    assert later == Counters(prompt_tokens=5, preemptions=1, busy_s=2.0)


def test_an_engine_is_read_as_its_metrics_tell() -> None:
    (node,) = nodes_of([NodeKind(name="n", prefill_tokens_per_second=1000, decode_base_ms=10, kv_blocks=100)])
    process = process_of(node.profile, lambda _now, _result: None)
    assert isinstance(process, EngineProcess)
    process.submit(Sequence("1", 320, 5), 0.0)
    process.advance(process.next_event())
    reading = process.reading(NodeSpec(url="http://n", id="n"), 0.0)
    assert (reading.running, reading.waiting, reading.kv_blocks) == (1, 0, 100)
    assert reading.kv_usage == pytest.approx(0.2)
    assert reading.load is None
