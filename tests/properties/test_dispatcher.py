"""Whatever happens in whatever order: accounts equal their leases, every request ends once, nothing is left at rest.

And nobody waits beside a node that would take him, unless the policy itself holds.
"""

import contextlib
import os
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.support.driver import FAILED, TestDriver, chain

from pointsman.brain.cache.pools.buddy import Buddy
from pointsman.brain.ledger import Booking, Ledger
from pointsman.brain.model.errors import PointsmanError
from pointsman.brain.model.facts import PanicChanged
from pointsman.brain.model.node import NodeSpec, NodeState
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.brain.model.reports import ClientReport
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.model.tenant import Tenant

EXAMPLES = int(os.environ.get("POINTSMAN_EXAMPLES", "1000"))
NODES = ("a", "b", "c")
POLICIES = (
    "least_requests",
    "round_robin",
    "two_choices",
    "least_response_time",
    "fastest_recovery",
    "hybrid",
    "jffc",
    "fastest_free",
    "fastest_completion",
    "greedy",
    "session",
)
ORDERS = ("fcfs", "priority", "edf", "utility", "fair")
LAYOUTS = ("paged", "size_class", "buddy")
HOLDING = ("fastest_free", "fastest_completion", "greedy")
OUTCOMES = st.sampled_from(
    [
        Outcome(verdict=Verdict.OK, prompt_tokens=200, completion_tokens=9, cached_tokens=32),
        Outcome(verdict=Verdict.FAIL, reason="reset", delivered=False),
        Outcome(verdict=Verdict.FAIL, reason="connect", delivered=False, free=True),
        Outcome(verdict=Verdict.FAIL, reason="truncated", delivered=True),
        Outcome(verdict=Verdict.BUSY, reason="status_503", status=503, delivered=False),
        Outcome(verdict=Verdict.CANCELLED),
    ]
)


class Life(RuleBasedStateMachine):
    """Random lives of a small fleet under a random policy."""

    driver: TestDriver

    @initialize(
        policy=st.sampled_from(POLICIES),
        slots=st.integers(1, 4),
        queue=st.integers(0, 5),
        order=st.sampled_from(ORDERS),
        overtakes=st.sampled_from([0, 1, 50]),
        layout=st.sampled_from(LAYOUTS),
        limited=st.booleans(),
    )
    def begin(
        self, policy: str, slots: int, queue: int, order: str, overtakes: int, layout: str, limited: bool
    ) -> None:
        self.layout = layout
        self.panicking: set[str] = set()
        self.driver = TestDriver(
            policy,
            [{PanicChanged: self.see}],
            queue_limit=queue,
            queue_timeout_s=5.0,
            ejection_s=2.0,
            slow_start_s=3.0,
            order=order,
            overtake_limit=overtakes,
            tenants=(Tenant(name="t", concurrent=4, requests_per_minute=90.0, weight=2.0),) if limited else (),
        )
        self.slots = slots
        self.longest_queue = queue
        self.holds = policy in HOLDING
        for name in NODES[:2]:
            self.driver.add(name, "m", "n", slots=slots, kv_tokens=4000, kv_layout=layout)

    def pick(self, things: Any, data: st.DataObject) -> Any:
        return data.draw(st.sampled_from(sorted(things)))

    @rule(
        model=st.sampled_from("mn"),
        steps=st.lists(st.integers(0, 2), max_size=6),
        tokens=st.integers(1, 500),
        stream=st.booleans(),
        tenant=st.sampled_from(["", "t"]),
        session=st.sampled_from(["", "s1", "s2"]),
        priority=st.sampled_from([0.01, 1.0, 7.0]),
        slo=st.sampled_from([None, 0.5]),
    )
    def submit(
        self,
        model: str,
        steps: list[int],
        tokens: int,
        stream: bool,
        tenant: str,
        session: str,
        priority: float,
        slo: Any,
    ) -> None:
        more = {"stream": stream, "tenant": tenant, "session": session, "priority": priority, "ttft_slo_s": slo}
        self.driver.submit(model, tokens, chain=chain(*steps), **more)
        if not stream:
            self.nobody_waits_for_nothing()

    @precondition(lambda self: self.driver.running)
    @rule(data=st.data())
    def first_token(self, data: st.DataObject) -> None:
        lease = self.pick(self.driver.running, data)
        self.driver.first_token(lease)
        self.driver.obey(self.driver.dispatcher.tokens(lease, 3, self.driver.now))

    @precondition(lambda self: self.driver.running)
    @rule(data=st.data())
    def interrupt(self, data: st.DataObject) -> None:
        lease = self.pick(self.driver.running, data)
        self.driver.obey(self.driver.dispatcher.interrupt(lease, "preempt", self.driver.now))

    @precondition(lambda self: self.driver.running)
    @rule(data=st.data(), tokens=st.integers(0, 50))
    def cut(self, data: st.DataObject, tokens: int) -> None:
        """A stream is cut, and the rest can be asked of another node."""
        outcome = Outcome(verdict=Verdict.FAIL, reason="reset", resumable=True, new_tokens=tokens)
        self.driver.finish(self.pick(self.driver.running, data), outcome)

    @precondition(lambda self: self.driver.running)
    @rule(data=st.data(), outcome=OUTCOMES)
    def finish(self, data: st.DataObject, outcome: Outcome) -> None:
        lease = self.pick(self.driver.running, data)
        self.driver.finish(lease, outcome)
        self.driver.obey(self.driver.dispatcher.finished(lease, outcome, self.driver.now))

    @precondition(lambda self: self.driver.running or self.driver.waiting)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        ticket = self.pick({*self.driver.running.values(), *self.driver.waiting}, data)
        self.driver.cancel(ticket)
        self.driver.obey(self.driver.dispatcher.cancel(ticket, self.driver.now))

    @rule(name=st.sampled_from(NODES), ok=st.booleans(), restart=st.sampled_from([None, 1.0, 2.0]))
    def report(self, name: str, ok: bool, restart: float | None) -> None:
        self.driver.report(name, ok, started_at=restart, waiting=1, kv_blocks=200, load=0.3)

    @rule(name=st.sampled_from(NODES), reason=st.sampled_from(["refused", "timeout", "status_500"]))
    def die(self, name: str, reason: str) -> None:
        """Every request on the node fails and so do its probes."""
        for lease in [lease for lease, node in self.driver.node_of.items() if node == name]:
            self.driver.finish(lease, Outcome(verdict=Verdict.FAIL, reason="reset", delivered=False))
        self.driver.tick(2.1)
        for _ in range(4):
            self.driver.report(name, ok=False, reason=reason)
        row = self.driver.dispatcher.fleet.row_of.get(name)
        if row is not None:
            assert self.driver.dispatcher.fleet.states[row] in (NodeState.DOWN, NodeState.DRAINING)

    @rule(name=st.sampled_from(NODES), seconds=st.sampled_from([0.01, 1.5, 30.0]))
    def probe_late(self, name: str, seconds: float) -> None:
        self.driver.report(name, seconds=seconds)

    @rule(name=st.sampled_from(NODES), times=st.integers(1, 5))
    def fail_requests(self, name: str, times: int) -> None:
        """Failing requests alone leave each model half of its nodes, and its last one."""
        fleet = self.driver.dispatcher.fleet
        row = fleet.row_of.get(name)
        if row is None:
            return
        before = fleet.states[row]
        for _ in range(times):
            self.driver.dispatcher.membership.ended(row, FAILED, self.driver.now)
        if before in (NodeState.UP, NodeState.SUSPECT) and fleet.states[row] is NodeState.DOWN:
            for model in fleet.models[row]:
                members = fleet.members(model)
                up = [member for member in members if fleet.states[member] is NodeState.UP]
                assert up, "the last node of a model was taken out"
                assert 2 * len(up) >= len(members), "more than half of a model's nodes are out"

    @rule(number=st.integers(1, 40), good=st.booleans())
    def feed_back(self, number: int, good: bool) -> None:
        word = ClientReport(request=f"r{number}", tenant="", good=good)
        with contextlib.suppress(PointsmanError):
            self.driver.obey(self.driver.dispatcher.feedback(word, self.driver.now))

    @rule(name=st.sampled_from(NODES))
    def heal(self, name: str) -> None:
        self.driver.tick(11.0)
        self.driver.report(name)

    @rule(name=st.sampled_from(NODES))
    def join_or_leave(self, name: str) -> None:
        dispatcher = self.driver.dispatcher
        row = dispatcher.fleet.row_of.get(name)
        if row is not None and row not in dispatcher.membership._leaving:
            self.driver.obey(dispatcher.remove_node(name, self.driver.now))
        else:
            self.driver.add(name, "m", "n", slots=self.slots, kv_tokens=4000, kv_layout=self.layout)

    @rule(
        name=st.sampled_from(NODES),
        address=st.sampled_from("xy"),
        slots=st.integers(1, 4),
        kv=st.integers(1, 9),
        layout=st.sampled_from(LAYOUTS),
    )
    def declare_otherwise(self, name: str, address: str, slots: int, kv: int, layout: Any) -> None:
        if name in self.driver.dispatcher.fleet.row_of:
            spec = NodeSpec(
                url=f"http://{address}", id=name, models=("m", "n"), slots=slots, kv_tokens=1000 * kv, kv_layout=layout
            )
            self.driver.obey(self.driver.dispatcher.declare_node(spec, self.driver.now))

    @rule(seconds=st.floats(0.1, 9.0), limit=st.integers(0, 5), tries=st.integers(1, 3), order=st.sampled_from(ORDERS))
    def configure(self, seconds: float, limit: int, tries: int, order: Any) -> None:
        self.longest_queue = max(limit, self.longest_queue)  # who waits already is not turned away
        settings = BrainSettings(
            queue_limit=limit, tries=tries, queue_timeout_s=seconds, slow_start_s=seconds - 0.1, order=order
        )
        self.driver.obey(self.driver.dispatcher.configure(settings, self.driver.now))

    @rule(name=st.sampled_from(NODES), drain=st.booleans())
    def drain(self, name: str, drain: bool) -> None:
        dispatcher = self.driver.dispatcher
        if name in dispatcher.fleet.row_of:
            self.driver.obey((dispatcher.drain if drain else dispatcher.undrain)(name, self.driver.now))

    @rule(seconds=st.sampled_from([0.0, 0.01, 0.2, 1.0, 6.0, 40.0]))
    def tick(self, seconds: float) -> None:
        self.driver.tick(seconds)
        due = self.driver.dispatcher.next_deadline()
        assert due is None or due > self.driver.now, "a tick left something due"

    def nobody_waits_for_nothing(self) -> None:
        """Estimates and caps renewed, whoever still waits has no node that would take him."""
        self.driver.tick(0.1)
        dispatcher = self.driver.dispatcher
        for ticket in self.driver.waiting if not self.holds else ():
            view = dispatcher.placement.view(dispatcher._tickets[ticket], self.driver.now)
            assert view is None, "a wait for nothing"

    @invariant()
    def books_agree(self) -> None:
        if hasattr(self, "driver"):
            self.driver.settled()
            for queue in self.driver.dispatcher.waiting.queues.values():
                assert 0 < len(queue) <= self.longest_queue

    @invariant()
    def panic_is_told(self) -> None:
        """Observers know each model's panic, and a model in panic is served by whoever does not refuse."""
        if hasattr(self, "driver"):
            fleet = self.driver.dispatcher.fleet
            assert self.panicking == {model for model in "mn" if fleet.panics(model)}
            for model in self.panicking:
                willing = [row for row in fleet.members(model) if not fleet.refusing[row]]
                assert fleet.candidates(model)[0].tolist() == willing

    def see(self, fact: PanicChanged) -> None:
        (self.panicking.add if fact.panic else self.panicking.discard)(fact.model)

    def teardown(self) -> None:
        if hasattr(self, "driver"):
            self.driver.rest()


SETTINGS = settings(
    max_examples=EXAMPLES, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)
FEW = settings(SETTINGS, max_examples=50, database=None, print_blob=False, report_multiple_bugs=False)


def test_lives() -> None:
    run_state_machine_as_test(Life, settings=SETTINGS)


def test_a_planted_leak_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The properties are only worth something if they fail when an account leaks."""

    def leaky(self: Ledger, booking: Booking) -> None:
        booking.open = False
        self._columns.outstanding[booking.row] -= 1.0

    monkeypatch.setattr(Ledger, "release", leaky)
    with pytest.raises(AssertionError):
        run_state_machine_as_test(Life, settings=FEW)


def test_a_planted_leak_of_memory_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """So is a piece of memory that nobody holds and nobody can have."""
    monkeypatch.setattr(Buddy, "give", lambda _self, _piece: None)
    with pytest.raises(AssertionError, match="row"):
        run_state_machine_as_test(Life, settings=FEW)
