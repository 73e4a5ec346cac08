"""Orders find those they concern, and the brain is woken when it wants to be."""

import asyncio
from typing import Any

import pytest

from pointsman.brain.model.errors import NoNode, PointsmanError, Stopping
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.orders import Abort, Order, Probe, Refuse, Start, Wait
from pointsman.brain.model.outcome import CANCELLED, Outcome, Verdict
from pointsman.brain.model.request import Request
from pointsman.clock import ManualClock
from pointsman.gateway.driver import WAKE_GRAIN_S, Driver

NODE = NodeSpec(url="http://n")
REQUEST = Request(id="r", model="m")
OK = Outcome(verdict=Verdict.OK)


class Brain:
    """Answers each call with the next orders of its script."""

    def __init__(self) -> None:
        self.script: list[list[Order]] = []
        self.calls: list[tuple[Any, ...]] = []
        self.due: float | None = None

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any) -> list[Order]:
            self.calls.append((name, *arguments))
            return self.script.pop(0) if self.script else []

        return call

    def next_deadline(self) -> float | None:
        return self.due


class Party:
    def __init__(self) -> None:
        self.heard: list[Any] = []

    def ordered(self, order: Start | Refuse) -> None:
        self.heard.append(order)

    def aborted(self, lease: int, why: str) -> None:
        self.heard.append((lease, why))

    def interrupted(self, lease: int, why: str, *, spares: bool) -> None:
        self.heard.append((lease, why, "spared" if spares else "interrupted"))

    def end(self, error: PointsmanError) -> None:
        self.heard.append(error)


class Alarms:
    """The loop's part: remembers when it is to call."""

    def __init__(self) -> None:
        self.delays: list[float] = []

    def call_later(self, delay: float, action: Any) -> asyncio.TimerHandle:
        self.delays.append(delay)
        self.action = action
        handle: Any = type("Handle", (), {"cancel": lambda _: None})()
        return handle


def driver() -> tuple[Driver, Brain, Alarms, list[NodeSpec]]:
    brain, alarms, probed = Brain(), Alarms(), []
    loop: Any = alarms
    dispatcher: Any = brain
    probes: list[NodeSpec] = probed
    return Driver(dispatcher, ManualClock(10.0), loop, probes.append), brain, alarms, probes


def start(ticket: int, lease: int, attempt: int = 1) -> Start:
    return Start(ticket, lease, NODE, attempt, 30.0)


def test_orders_reach_their_parties() -> None:
    drive, brain, _, _ = driver()
    first, second = Party(), Party()
    one, other = start(1, 11), start(2, 12)
    brain.script = [[one], [Wait(2, 1)]]
    assert drive.submit(REQUEST, first) == 1
    assert drive.submit(REQUEST, second) == 2
    assert (first.heard, second.heard) == ([one], [])
    brain.script = [[other]]
    assert drive.finished(1, 11, OK) is False
    assert second.heard == [other]
    assert drive.open_requests == 1
    drive.close(1, 11)
    assert "cancel" not in [call[0] for call in brain.calls], "the brain knows"


def test_a_try_may_go_on() -> None:
    drive, brain, _, _ = driver()
    party = Party()
    for order in (start(1, 12, 2), Wait(1, 1), Refuse(1, NoNode("x"))):
        brain.script = [[start(1, 11)], [order]]
        drive.submit(REQUEST, party)
        assert drive.finished(1, 11, OK) is True


def test_a_start_for_nobody_is_given_back() -> None:
    drive, brain, _, _ = driver()
    brain.script = [[start(7, 71)]]
    drive.call(lambda now: brain.tick(now))
    assert brain.calls[-1] == ("finished", 71, CANCELLED, 10.0)


def test_closing_cancels_once() -> None:
    drive, brain, _, _ = driver()
    brain.script = [[start(1, 11)]]
    drive.submit(REQUEST, Party())
    drive.close(1, 11)
    drive.close(1, 11)
    assert [call for call in brain.calls if call[0] == "cancel"] == [("cancel", 1, 10.0)]
    assert drive.open_requests == 0


def test_aborts() -> None:
    drive, brain, _, _ = driver()
    party = Party()
    move, down = Abort(11, "move", interrupts=True), Abort(11, "node_down", interrupts=True, spares=True)
    brain.script = [[start(1, 11)], [down, move, Abort(11, "why"), Abort(99, "gone")]]
    drive.submit(REQUEST, party)
    drive.call(lambda now: brain.tick(now))
    assert party.heard[-3:] == [(11, "node_down", "spared"), (11, "move", "interrupted"), (11, "why")]
    assert ("finished", 99, CANCELLED, 10.0) in brain.calls


def test_everyone_is_told_of_the_end() -> None:
    drive, brain, _, _ = driver()
    parties = [Party(), Party()]
    brain.script = [[start(1, 11)], [Wait(2, 1)]]
    for party in parties:
        drive.submit(REQUEST, party)
    error = Stopping("x")
    drive.end_all(error)
    assert [party.heard[-1] for party in parties] == [error, error]


def test_probes_are_started() -> None:
    drive, brain, _, probed = driver()
    brain.script = [[Probe(NODE)]]
    drive.call(lambda now: brain.add_node(NODE, now))
    assert probed == [NODE]


def test_only_an_earlier_deadline_sets_the_alarm_anew() -> None:
    drive, brain, alarms, _ = driver()
    for brain.due in (15.0, 20.0, 12.0, 11.999, None, 5.0, 4.999):
        drive.call(lambda now: [])
    assert alarms.delays == pytest.approx([5.0, 2.0, WAKE_GRAIN_S])
    brain.due = 30.0
    alarms.action()
    assert brain.calls[-1] == ("tick", 10.0)
    assert alarms.delays[-1] == 20.0
    drive.stop()
    brain.due = 1.0
    drive.call(lambda now: [])
    assert alarms.delays[-1] == 20.0
