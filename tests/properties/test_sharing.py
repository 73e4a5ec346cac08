"""Several gateways before the same nodes, which hear of each other late: bounds hold, and nothing is left over."""

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.support.driver import TestDriver, chain

from pointsman.brain.bounds import Bounds
from pointsman.brain.hub import Hub
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.brain.model.sharing import PeerReport

EXAMPLES = int(os.environ.get("POINTSMAN_EXAMPLES", "40"))
NODES = ("a", "b")
OUTCOMES = st.sampled_from(
    [
        Outcome(verdict=Verdict.OK, prompt_tokens=200, completion_tokens=9),
        Outcome(verdict=Verdict.FAIL, reason="reset", delivered=False),
        Outcome(verdict=Verdict.CANCELLED),
    ]
)


class Gateway:
    """A dispatcher, and what is on its way to it: at most the last round, as between processes that keep up."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.driver = TestDriver(fails_in_a_row=1000, fail_share=1.0, queue_timeout_s=1e6, tries=1)
        self.coming: PeerReport | None = None
        self.told = 0

    def arrive(self) -> None:
        """Hear the round that is on its way."""
        report, self.coming = self.coming, None
        if report is not None:
            self.driver.hear(report)


class Sharing(RuleBasedStateMachine):
    """Two to four gateways, whose shares and rounds travel in any order that keeps each one's own."""

    @initialize(count=st.integers(2, 4), slots=st.integers(1, 9))
    def begin(self, count: int, slots: int) -> None:
        self.slots = slots
        self.hub = Hub()
        self.gateways = {number: Gateway(number) for number in range(count)}
        for number, gateway in self.gateways.items():
            self.hub.join(number)
            for name in NODES:
                gateway.driver.add(name, slots=slots)
        self.make_round()
        for gateway in self.gateways.values():
            gateway.arrive()

    def pick(self, data: st.DataObject) -> Gateway:
        return data.draw(st.sampled_from(list(self.gateways.values())))

    @rule(data=st.data(), tokens=st.integers(1, 300), steps=st.lists(st.integers(0, 1), max_size=3))
    def submit(self, data: st.DataObject, tokens: int, steps: list[int]) -> None:
        self.pick(data).driver.submit(tokens=tokens, chain=chain(*steps))

    @rule(data=st.data(), count=st.integers(1, 8))
    def burst(self, data: st.DataObject, count: int) -> None:
        driver = self.pick(data).driver
        for _ in range(count):
            driver.submit()

    @rule(data=st.data(), outcome=OUTCOMES)
    def finish(self, data: st.DataObject, outcome: Outcome) -> None:
        driver = self.pick(data).driver
        if driver.running:
            driver.finish(data.draw(st.sampled_from(sorted(driver.running))), outcome)

    @rule(data=st.data())
    def first_token(self, data: st.DataObject) -> None:
        driver = self.pick(data).driver
        if driver.running:
            driver.first_token(data.draw(st.sampled_from(sorted(driver.running))))

    @rule(data=st.data())
    def share(self, data: st.DataObject) -> None:
        self.pick(data).driver.share()

    @rule(data=st.data())
    def share_arrives(self, data: st.DataObject) -> None:
        self.deliver(self.pick(data))

    @rule()
    def make_round(self) -> None:
        """Of the rounds that are not heard yet there is only this one: an earlier one arrives first."""
        for gateway in self.gateways.values():
            gateway.arrive()
            gateway.coming = self.hub.report(gateway.number)

    @rule(data=st.data())
    def round_arrives(self, data: st.DataObject) -> None:
        self.pick(data).arrive()

    @precondition(lambda self: len(self.gateways) > 2)
    @rule(data=st.data())
    def killed(self, data: st.DataObject) -> None:
        gone = self.pick(data)
        del self.gateways[gone.number]
        self.hub.leave(gone.number)

    @rule(data=st.data())
    def passes_time(self, data: st.DataObject) -> None:
        driver = self.pick(data).driver
        due = driver.dispatcher.next_deadline()
        if due is not None:
            driver.tick(max(0.0, due - driver.now))
        while driver.probes:
            driver.report(driver.probes.pop())

    @invariant()
    def bounds_hold(self) -> None:
        """As `brain.bounds` says: by less than a request each, and a quarter of the room that a round showed."""
        for node in NODES:
            held = sum(list(g.driver.node_of.values()).count(node) for g in self.gateways.values())
            assert held <= self.slots + len(self.gateways) - 1 + self.slots / 4

    def deliver(self, gateway: Gateway) -> None:
        for share in gateway.driver.told[gateway.told :]:
            self.hub.tell(gateway.number, share)
        gateway.told = len(gateway.driver.told)

    def settle(self) -> None:
        """Everybody tells everything and hears everything."""
        for _ in range(3):
            for gateway in self.gateways.values():
                gateway.driver.share()
                self.deliver(gateway)
            self.make_round()
            self.make_round()

    def teardown(self) -> None:
        if not hasattr(self, "gateways"):
            return
        self.nobody_waits_for_ever()
        for gateway in self.gateways.values():
            while gateway.driver.running or gateway.driver.waiting:
                for lease in list(gateway.driver.running):
                    gateway.driver.finish(lease)
                for ticket in list(gateway.driver.waiting):
                    gateway.driver.cancel(ticket)
        self.settle()
        for gateway in self.gateways.values():
            assert not any(booked != type(booked)() for booked in gateway.driver.others.values())
            gateway.driver.rest()
        assert not self.hub._sums

    def nobody_waits_for_ever(self) -> None:
        """As long as others make room, each gets its turn within as many exchanges as there are requests."""
        waiting = sum(len(g.driver.waiting) + len(g.driver.running) for g in self.gateways.values())
        for _ in range(2 * waiting + 10):
            for gateway in self.gateways.values():
                for lease in list(gateway.driver.running)[:1]:
                    gateway.driver.finish(lease)
            self.settle()
        assert not any(g.driver.waiting for g in self.gateways.values())


def run(examples: int, *, quick: bool = False) -> None:
    run_state_machine_as_test(
        Sharing,
        settings=settings(
            max_examples=examples,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.generate,) if quick else tuple(Phase),
        ),
    )


def test_sharing() -> None:
    run(EXAMPLES)


def test_a_bound_that_counts_the_room_twice_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def whole(bounds: Any, rows: slice) -> None:
        bounds.bound[rows] = bounds.cap[rows]

    monkeypatch.setattr(Bounds, "_rebound", whole)
    with pytest.raises(AssertionError):
        run(10 * EXAMPLES, quick=True)  # ends with the first that catches it
