"""What clients do, and what becomes of their requests."""

import contextlib
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from tests.support.driver import TestDriver, chain
from tests.support.lives.settings import HOLDING, LAYOUTS, POLICIES, changeable

from pointsman.brain.model.errors import Conflict, PointsmanError
from pointsman.brain.model.facts import PanicChanged
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.brain.model.outside import MemoryWish
from pointsman.brain.model.reports import ClientReport

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


class Clients(RuleBasedStateMachine):
    """Requests come, are answered, cut, taken away, cancelled, complained about."""

    driver: TestDriver

    @initialize(
        policy=st.sampled_from(POLICIES),
        slots=st.sampled_from([1, 2, 4, 8]),
        layout=st.sampled_from(LAYOUTS),
        kv=st.sampled_from([800, 4000]),
        settings=changeable(),
        resumes=st.booleans(),
    )
    def begin(self, policy: str, slots: int, layout: str, kv: int, settings: dict[str, Any], resumes: bool) -> None:
        if settings["preemption"] == "on":
            policy = "greedy"  # others start whatever finds a slot
        self.layout, self.kv = layout, kv
        self.panicking: set[str] = set()
        self.driver = self.made(policy, [{PanicChanged: self.see}], ejection_s=2.0, **settings)
        self.driver.resumes = resumes
        self.slots = slots
        self.longest_queue = settings["queue_limit"]
        self.holds = policy in HOLDING
        for name in "ab":
            self.driver.add(name, "m", "n", slots=slots, kv_tokens=kv, kv_layout=layout)

    def made(self, policy: str, observers: Sequence[object], **settings: Any) -> TestDriver:
        return TestDriver(policy, observers, **settings)

    def see(self, fact: PanicChanged) -> None:
        (self.panicking.add if fact.panic else self.panicking.discard)(fact.model)

    def pick(self, things: Any, data: st.DataObject) -> Any:
        return data.draw(st.sampled_from(sorted(things)))

    @rule(
        model=st.sampled_from("mn"),
        times=st.sampled_from([1, 3, 6]),
        steps=st.lists(st.integers(0, 2), max_size=6),
        tokens=st.integers(1, 500),
        most=st.sampled_from([None, 1, 300]),
        stream=st.booleans(),
        resumable=st.sampled_from([True, True, False]),
        tenant=st.sampled_from(["", "t"]),
        session=st.sampled_from(["", "s1", "s2"]),
        priority=st.sampled_from([0.01, 1.0, 7.0]),
        slo=st.sampled_from([None, 0.5]),
    )
    def submit(
        self, model: str, times: int, steps: list[int], tokens: int, most: int | None, slo: Any, **more: Any
    ) -> None:
        """One request, or a few alike."""
        for _ in range(times):
            self.driver.submit(model, tokens, chain=chain(*steps), max_tokens=most, ttft_slo_s=slo, **more)
        if not more["stream"]:
            self.nobody_waits_for_nothing()

    @precondition(lambda self: self.driver.running)
    @rule(data=st.data(), tokens=st.sampled_from([0, 1, 40]))
    def answer(self, data: st.DataObject, tokens: int) -> None:
        """A first token comes, or the next ones."""
        lease = self.pick(self.driver.running, data)
        self.driver.first_token(lease)
        self.driver.tokens(lease, tokens)

    @precondition(lambda self: self.driver.running)
    @rule(data=st.data(), outcome=OUTCOMES)
    def finish(self, data: st.DataObject, outcome: Outcome) -> None:
        lease = self.pick(self.driver.running, data)
        self.driver.finish(lease, outcome)
        self.told_late(lease, outcome)

    @precondition(lambda self: self.driver.running)
    @rule(data=st.data())
    def cut(self, data: st.DataObject) -> None:
        """The node is lost; the rest may have to be asked of another one."""
        lease = self.pick(self.driver.running, data)
        self.driver.finish(lease, self.driver.lost(lease, "reset"))

    @precondition(lambda self: self.driver.running)
    @rule(data=st.data(), times=st.integers(1, 2))
    def interrupt(self, data: st.DataObject, times: int) -> None:
        lease = self.pick(self.driver.running, data)
        for _ in range(times):
            self.driver.obey(self.driver.dispatcher.interrupt(lease, "preempt", self.driver.now))

    @precondition(lambda self: self.driver.running or self.driver.waiting)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        ticket = self.pick({*self.driver.running.values(), *self.driver.waiting}, data)
        self.driver.cancel(ticket)
        self.driver.obey(self.driver.dispatcher.cancel(ticket, self.driver.now))

    @rule(number=st.integers(1, 40), good=st.booleans())
    def feed_back(self, number: int, good: bool) -> None:
        word = ClientReport(request=f"r{number}", tenant="", good=good)
        with contextlib.suppress(PointsmanError):
            self.driver.obey(self.driver.dispatcher.feedback(word, self.driver.now))

    @rule(model=st.sampled_from("mn"))
    def begin_alike(self, model: str) -> None:
        """Two prompts share most of what they are, and some time passes before the second is answered."""
        for last in range(2):
            self.driver.submit(model, 200, chain=chain(0, 1, 2, 0, 1, last), max_tokens=9)
        self.driver.tick(0.6)

    @precondition(lambda self: self.driver.warm_ups)
    @rule(data=st.data(), ok=st.booleans())
    def warm_up(self, data: st.DataObject, ok: bool) -> None:
        """A hot prefix was computed by an idle node, or was not."""
        warm = self.pick(self.driver.warm_ups, data)
        self.driver.warmed(warm, ok)
        assert self.driver.dispatcher.warmed(warm, ok, self.driver.now) == [], "a warm-up ended twice"

    @rule(
        model=st.sampled_from("mno"),
        tokens=st.integers(1, 900),
        node=st.sampled_from([None, "a", "z"]),
        ttl_s=st.sampled_from([0.1, 5.0, 3600.0]),
        renewed=st.booleans(),
    )
    def hold_memory(self, model: str, tokens: int, node: str | None, ttl_s: float, renewed: bool) -> None:
        """Another gateway asks for memory, and perhaps for more time."""
        dispatcher, now = self.driver.dispatcher, self.driver.now
        wish = MemoryWish(model=model, prompt_tokens=tokens, node=node, ttl_s=ttl_s)
        with contextlib.suppress(PointsmanError):
            lease = dispatcher.allocate(wish, now).lease
            if renewed:
                dispatcher.renew(lease, 1.0, now)
        self.driver.obey(())

    @rule(data=st.data())
    def give_memory_back(self, data: st.DataObject) -> None:
        dispatcher, now = self.driver.dispatcher, self.driver.now
        leases = [lease.id for lease in dispatcher.outsiders.leases()]
        if leases:
            lease = self.pick(leases, data)
            with contextlib.suppress(Conflict):
                self.driver.obey(dispatcher.release(lease, now))
            with pytest.raises(Conflict):
                dispatcher.release(lease, now)

    @rule(slow=st.booleans())
    def slow_to_stop(self, slow: bool) -> None:
        """From now on aborts are carried out late; or those that were not yet, now."""
        self.driver.slow = slow
        self.driver.obey(())

    def told_late(self, lease: int, outcome: Outcome) -> None:
        """Whatever else is said of a lease that has ended changes nothing."""
        dispatcher, now = self.driver.dispatcher, self.driver.now
        for orders in (
            dispatcher.first_token(lease, now),
            dispatcher.tokens(lease, 3, now),
            dispatcher.interrupt(lease, "preempt", now),
            dispatcher.finished(lease, outcome, now),
        ):
            assert orders == [], "an ended lease has a consequence"
        self.driver.check()

    def nobody_waits_for_nothing(self) -> None:
        """Estimates and caps renewed, whoever still waits has no node that would take him."""
        self.driver.tick(0.1)
        dispatcher = self.driver.dispatcher
        for ticket in self.driver.waiting if not self.holds else ():
            view = dispatcher.placement.view(dispatcher._tickets[ticket], self.driver.now)
            assert view is None, "a wait for nothing"
