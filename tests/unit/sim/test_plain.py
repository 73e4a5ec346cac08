"""Plain servers in the simulation: their times, their drift, and that they are nodes like others."""

from math import inf

import pytest
from tests.support.simulated import experiment, journaled, rows_demand

from pointsman.brain.model.node import NodeSpec
from pointsman.engine.core import StepResult
from pointsman.engine.plain_service import PlainService
from pointsman.engine.sequence import Sequence
from pointsman.sim.fleet import Node, NodeKind, nodes_of
from pointsman.sim.habits import Habits
from pointsman.sim.incidents import Failure, Incidents
from pointsman.sim.plain import PlainProcess, PlainProfile

SPEC = NodeSpec(url="http://n", id="n", engine="plain")


class Server:
    """A process, and what it answered when."""

    def __init__(self, **more: float) -> None:
        self.answered: list[tuple[str, float]] = []
        service = PlainService(base_seconds=0.1, slope_seconds=0.9, capacity=10)
        self.process = PlainProcess(PlainProfile(service=service, **more), self._deliver)

    def _deliver(self, now: float, result: StepResult) -> None:
        self.answered += ((sequence.key, now) for sequence in result.finished)

    def submit(self, key: str, now: float) -> Sequence:
        sequence = Sequence(key, 10, 1)
        self.process.submit(sequence, now)
        return sequence


def test_the_time_follows_from_the_load_on_arrival() -> None:
    server = Server()
    for key in "ab":
        server.submit(key, 0.0)
    assert server.process.next_event() == pytest.approx(0.1)
    server.process.advance(1.0)
    assert server.answered == [("a", pytest.approx(0.1)), ("b", pytest.approx(0.19))]
    assert server.process.next_event() == inf
    assert server.process.counters(1.0).busy_s == pytest.approx(0.19)


def test_what_is_aborted_makes_room_and_is_not_answered() -> None:
    server = Server()
    first = server.submit("a", 0.0)
    assert server.process.abort(first, 0.05)
    assert not server.process.abort(first, 0.06)
    server.submit("b", 0.06)
    server.process.advance(1.0)
    assert server.answered == [("b", pytest.approx(0.16))]


def test_slower_is_slower_from_then_on() -> None:
    server = Server(slowdown=2.0)
    server.submit("a", 0.0)
    server.process.slow_down(3.0, 0.0)
    server.submit("b", 0.0)
    server.process.advance(9.0)
    assert server.answered == [("a", pytest.approx(0.2)), ("b", pytest.approx(6 * 0.19))]


def test_load_from_elsewhere_drifts_and_is_told() -> None:
    server = Server(drift=0.2, drift_swing=0.4, drift_period_s=40.0)
    loads = [server.process.reading(SPEC, moment).load for moment in (0.0, 10.0, 20.0, 30.0)]
    assert loads == [pytest.approx(0.2), pytest.approx(0.6), pytest.approx(0.2), 0.0]
    server.submit("a", 10.0)
    server.process.advance(99.0)
    assert server.answered == [("a", pytest.approx(10.0 + 0.1 + 0.9 * 0.6))]


def plain_nodes(count: int, **more: float) -> tuple[Node, ...]:
    return nodes_of([NodeKind(name="n", kind="plain", count=count, **more)])  # type: ignore[arg-type]


def test_drifts_of_several_follow_each_other() -> None:
    peaks = [node.profile.drift_at(0.0) for node in plain_nodes(4, drift=1.0, drift_swing=1.0)]  # type: ignore[union-attr]
    assert peaks == pytest.approx([1.0, 2.0, 1.0, 0.0])


def test_plain_servers_are_nodes_that_can_die() -> None:
    demand = rows_demand(*((second / 10, 10, 1) for second in range(100)))
    failures = Incidents(failures=(Failure(node="n-1", begins_s=2.0, ends_s=4.0),))
    run, _ = journaled(
        experiment("least_requests", demand, plain_nodes(2), incidents=failures, habits=Habits(plain=1.0))
    )
    assert all(record.ok for record in run.records)
    assert {record.node for record in run.records if 2.1 < record.sent_s < 4.0} == {"n-2"}
    assert run.summary.busy > 0


def test_they_do_not_mix_with_engines() -> None:
    with pytest.raises(ValueError, match="they cannot be one fleet"):
        nodes_of([NodeKind(name="a"), NodeKind(name="b", kind="plain")])
