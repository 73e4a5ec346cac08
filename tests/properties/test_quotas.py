"""Quotas are exact: whatever comes in whatever order, a tenant's accounts are those one would work out on paper.

`Asked` asks the quotas themselves. `Served` lets a fleet serve the requests and reads off the facts who is to pay what:
the same that usage records say.
"""

import os
from collections.abc import Callable, Sequence
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
from tests.support.lives.charged import Charged
from tests.support.plain_quotas import PlainQuotas

from pointsman.brain.accounts import Accounts
from pointsman.brain.admission.quota import CONCURRENT_RETRY_S, Bucket, Quotas
from pointsman.brain.model.tenant import Tenant

EXAMPLES = int(os.environ.get("POINTSMAN_EXAMPLES", "200"))
MS = 0.001
ROUNDING = 1e-6
NAMES = st.sampled_from(["a", "b", "c"])
RATES = st.sampled_from([0.0, 1.0, 7.0, 60.0])
RULES = st.lists(
    st.builds(
        Tenant,
        name=st.sampled_from(["a", "b", "*"]),
        requests_per_minute=RATES,
        tokens_per_minute=st.sampled_from([0.0, 100.0, 1000.0 / 3]),
        concurrent=st.sampled_from([0, 0, 1, 3]),
    ),
    unique_by=lambda tenant: tenant.name,
)


class Asked(RuleBasedStateMachine):
    """Every call is made to both; `calls` are all so far, to be made again where a question would change something."""

    @initialize(tenants=RULES)
    def begin(self, tenants: Sequence[Tenant]) -> None:
        self.tenants = tenants
        self.quotas, self.plain = Quotas(tenants), PlainQuotas(tenants)
        self.now = 0.0
        self.calls: list[Callable[[Quotas], object]] = []
        self.last = 0
        self.open: dict[int, float] = {}

    def tell(self, call: Callable[[Quotas], object]) -> Any:
        self.calls.append(call)
        return call(self.quotas)

    @rule(name=NAMES, tokens=st.sampled_from([0.1, 1.0, 30.0, 99.0, 400.0]), times=st.sampled_from([1, 1, 5]))
    def come(self, name: str, tokens: float, times: int) -> None:
        for _ in range(times):
            self.one(name, tokens)

    def one(self, name: str, tokens: float) -> None:
        self.last += 1
        ticket, now = self.last, self.now
        expected = self.plain.seconds(name, tokens, now)
        before = list(self.calls)
        refusal = self.tell(lambda quotas: quotas.admit(ticket, name, tokens, now))
        if refusal is None:
            assert expected is not None
            assert expected < ROUNDING, "a request too many"
            self.plain.charge(ticket, name, tokens, now)
            self.open[ticket] = tokens
        elif expected is None:
            assert refusal.retry_after_s >= CONCURRENT_RETRY_S
        else:
            assert refusal.retry_after_s == pytest.approx(expected, abs=ROUNDING), "told to come at another time"
            self.is_taken_then_and_not_before(before, name, tokens, refusal.retry_after_s)

    def is_taken_then_and_not_before(self, before: Any, name: str, tokens: float, seconds: float) -> None:
        def admits(when: float) -> bool:
            again = Quotas(self.tenants)
            for call in before:
                call(again)
            return again.admit(0, name, tokens, when) is None

        assert admits(self.now + seconds), "came when told, and was refused"
        assert seconds < MS or not admits(self.now + seconds - MS), "might have come sooner"

    @precondition(lambda self: self.open)
    @rule(data=st.data(), share=st.sampled_from([None, 0.0, 0.3, 1.0, 3.0]), twice=st.booleans())
    def end(self, data: st.DataObject, share: float | None, twice: bool) -> None:
        ticket, now = data.draw(st.sampled_from(sorted(self.open))), self.now
        used = None if share is None else self.open[ticket] * share
        del self.open[ticket]
        for _ in range(1 + twice):
            self.tell(lambda quotas: quotas.over(ticket, used, now))
        self.plain.settle(ticket, used, now)

    @rule(seconds=st.sampled_from([0.01, 1.0, 7.3, 60.0, 500.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule(tenants=RULES)
    def configure(self, tenants: Sequence[Tenant]) -> None:
        now = self.now
        self.tell(lambda quotas: quotas.configure(tenants, now))
        self.plain.configure(tenants, now)

    @invariant()
    def as_many_are_open(self) -> None:
        if hasattr(self, "quotas"):
            for name, tab in self.plain.tabs.items():
                assert self.quotas._accounts[name].open == len(tab.open), "a request too many is open"

    def teardown(self) -> None:
        if hasattr(self, "quotas"):
            for ticket in list(self.open):
                self.quotas.over(ticket, None, self.now)
            assert self.quotas.at_rest(), "a request is still open"


def run(machine: Any, examples: int, *, steps: int = 40, quick: bool = False) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            derandomize=quick or "CI" in os.environ,
            database=None,
            print_blob=False,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.generate,) if quick else tuple(Phase),
        ),
    )


@pytest.mark.timeout(120 + EXAMPLES // 5)
def test_quotas_are_those_on_paper() -> None:
    run(Asked, EXAMPLES)


@pytest.mark.timeout(120 + EXAMPLES // 5)
def test_whatever_becomes_of_requests_their_tenants_pay_for_what_they_had() -> None:
    run(Charged, EXAMPLES)


over, take, admit, ended = Quotas.over, Bucket.take, Quotas.admit, Accounts.ended


def settles_late(self: Quotas, ticket: int, used: float | None, now: float) -> None:
    if used != 0.0:
        over(self, ticket, used, now)


def pays_what_it_was_not_given(self: Quotas, ticket: int, used: float | None, now: float) -> None:
    over(self, ticket, used or 0.0, now)


def gives_nothing_back(self: Bucket, amount: float, now: float) -> None:
    take(self, max(0.0, amount), now)


def looks_before_time_has_passed(self: Bucket, amount: float, now: float) -> None:
    take(self, amount, self._at)


def charges_who_is_refused(self: Quotas, ticket: int, name: str, tokens: float, now: float) -> Any:
    refusal = admit(self, ticket, name, tokens, now)
    account = self._accounts.get(name)
    if refusal is not None and account is not None and account.requests is not None:
        account.requests.take(1.0, now)
    return refusal


def forgets_what_was_had(self: Accounts, lease: Any, outcome: Any) -> None:
    ended(self, lease, outcome)
    self._used.pop(lease.ticket.id, None)


PLANTED = [
    (Asked, Quotas, "over", settles_late),
    (Asked, Quotas, "over", pays_what_it_was_not_given),
    (Asked, Bucket, "take", gives_nothing_back),
    (Asked, Bucket, "take", looks_before_time_has_passed),
    (Asked, Quotas, "admit", charges_who_is_refused),
    (Charged, Quotas, "over", pays_what_it_was_not_given),
    (Charged, Bucket, "take", gives_nothing_back),
    (Charged, Accounts, "ended", forgets_what_was_had),
]


@pytest.mark.parametrize(
    ("machine", "part", "call", "planted"), PLANTED, ids=[f"{each[0].__name__}-{each[3].__name__}" for each in PLANTED]
)
def test_a_planted_leak_is_caught(machine: Any, part: Any, call: str, planted: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(part, call, planted)
    with pytest.raises(AssertionError):
        run(machine, 1000, steps=80, quick=True)  # ends with the first that catches it
