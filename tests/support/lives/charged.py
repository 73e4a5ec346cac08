"""The random lives of a small fleet, with every tenant's account worked out beside them from the facts."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule
from tests.support.driver import TestDriver
from tests.support.lives.nodes import Nodes
from tests.support.lives.settings import changeable
from tests.support.plain_quotas import PlainQuotas

from pointsman.brain.model.facts import Ended, Placed, Refused
from pointsman.brain.model.orders import Order, Refuse
from pointsman.brain.model.outcome import UNSERVED
from pointsman.brain.model.request import Request
from pointsman.brain.model.tenant import Tenant

QUOTAS = (
    (Tenant(name="t", concurrent=2), Tenant(name="*", requests_per_minute=60.0)),
    (Tenant(name="t", requests_per_minute=30.0, tokens_per_minute=5000.0),),
    (Tenant(name="*", concurrent=4, tokens_per_minute=1500.0),),
    (),
)
ROUNDING = 1e-6


class Payer:
    """What each request was served, as the facts tell: that is what its tenant is to pay."""

    def __init__(self, tenants: Any) -> None:
        self.plain = PlainQuotas(tenants)
        self.used: dict[int, float] = {}
        self.prompts: dict[int, float] = {}
        self.handlers = {Placed: self.placed, Ended: self.ended, Refused: self.refused}

    def placed(self, fact: Placed) -> None:
        self.prompts.setdefault(fact.ticket, fact.prompt_tokens)

    def ended(self, fact: Ended) -> None:
        outcome = fact.outcome
        if outcome.delivered or outcome.verdict not in UNSERVED:
            counted = outcome.prompt_tokens or outcome.completion_tokens
            answer = outcome.completion_tokens if counted else fact.tokens
            self.used[fact.ticket] = (outcome.prompt_tokens or self.prompts[fact.ticket]) + answer
        if fact.final and (outcome.delivered or outcome.verdict not in UNSERVED):
            self.over(fact.ticket, fact.now)

    def refused(self, fact: Refused) -> None:
        self.over(fact.ticket, fact.now)

    def over(self, ticket: int, now: float) -> None:
        self.prompts.pop(ticket, None)
        self.plain.settle(ticket, self.used.pop(ticket, None), now)


class ChargedDriver(TestDriver):
    """Asks on paper, before each request, whether and when it is to be taken."""

    def __init__(self, payer: Payer, policy: str, observers: Sequence[object], **settings: Any) -> None:
        super().__init__(policy, [payer.handlers, *observers], **settings)
        self.payer = payer
        self.retry_after: dict[int, float | None] = {}

    def submit(self, model: str = "m", tokens: int = 100, **more: Any) -> int:
        request = Request(id="", model=model, prompt_tokens=tokens, **more)
        estimates, plain = self.dispatcher.estimates, self.payer.plain
        size = float(estimates.size(request)[0] + estimates.output(request))
        expected = plain.seconds(request.tenant, size, self.now)
        free = expected is not None and expected < ROUNDING
        if free:
            plain.charge(self.dispatcher.lives._last_ticket + 1, request.tenant, size, self.now)
        ticket = super().submit(model, tokens, **more)
        assert free == (self.ended.get(ticket) != "rate_limit_exceeded"), f"to be taken in {expected} s"
        if expected and not free:
            assert self.retry_after[ticket] == pytest.approx(expected, abs=ROUNDING), "told to come at another time"
        return ticket

    def obey(self, orders: Sequence[Order]) -> None:
        self.retry_after |= {order.ticket: order.error.retry_after_s for order in orders if isinstance(order, Refuse)}
        super().obey(orders)


class Charged(Nodes):
    """Every request is charged, or refused; the fleet may do with it what it will."""

    driver: ChargedDriver

    def made(self, policy: str, observers: Sequence[object], **settings: Any) -> TestDriver:
        settings["tenants"] = QUOTAS[0]
        return ChargedDriver(Payer(QUOTAS[0]), policy, observers, **settings)

    @rule(settings=changeable(), tenants=st.sampled_from(QUOTAS))
    def configure(self, settings: dict[str, Any], tenants: tuple[Tenant, ...]) -> None:
        self.driver.payer.plain.configure(tenants, self.driver.now)
        super().configure(settings | {"tenants": tenants})

    @rule(seconds=st.sampled_from([0.01, 1.0, 6.0, 40.0]))
    def time_passes(self, seconds: float) -> None:
        self.driver.tick(seconds)

    @invariant()
    def accounts_are_those_on_paper(self) -> None:
        if hasattr(self, "driver"):
            accounts, plain = self.driver.dispatcher.accounts._quotas._accounts, self.driver.payer.plain
            for name, tab in plain.tabs.items():
                assert accounts[name].open == len(tab.open), "a request too many is open"
                for line, bucket in ((tab.requests, accounts[name].requests), (tab.tokens, accounts[name].tokens)):
                    assert (line is None) == (bucket is None)
                    if line is not None and bucket is not None:
                        bucket.lacking(0.0, self.driver.now)
                        assert bucket.level == pytest.approx(float(line.level(Fraction(self.driver.now))), abs=ROUNDING)

    def teardown(self) -> None:
        if hasattr(self, "driver"):
            self.driver.slow = False
            self.driver.rest()
            assert not any(tab.open for tab in self.driver.payer.plain.tabs.values()), "a request is never over"
