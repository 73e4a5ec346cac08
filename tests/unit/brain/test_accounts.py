"""What tenants are charged as their requests come and go."""

import msgspec
import pytest
from tests.support.driver import FAILED, TestDriver

from pointsman.brain.model.facts import Ended
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.model.tenant import Tenant


def driver_of(*tenants: Tenant, **settings: object) -> TestDriver:
    driver = TestDriver(tenants=tenants, **settings)
    driver.add("a", slots=1)
    return driver


def refusals(driver: TestDriver, tickets: list[int]) -> list[str]:
    return [driver.ended.get(ticket, "") for ticket in tickets]


def test_quotas_refuse_exactly_what_is_too_much() -> None:
    driver = driver_of(Tenant(name="t", requests_per_minute=3))
    tickets = [driver.submit(tenant="t") for _ in range(5)]
    assert refusals(driver, tickets) == ["", "", "", "rate_limit_exceeded", "rate_limit_exceeded"]
    assert driver.submit(tenant="other") in driver.waiting
    driver.rest()


@pytest.mark.parametrize("how", ["queue_full", "queue_timeout", "left", "failed"])
def test_who_was_not_served_is_not_charged(how: str) -> None:
    settings = {"queue_limit": 0 if how == "queue_full" else 5, "queue_timeout_s": 3.0, "tries": 1}
    driver = driver_of(Tenant(name="t", requests_per_minute=1), **settings)
    blocking = driver.submit()
    if how == "failed":
        driver.finish(driver.lease_of(blocking))
    ticket = driver.submit(tenant="t")
    if how == "left":
        driver.cancel(ticket)
    elif how == "failed":
        driver.finish(driver.lease_of(ticket), FAILED)
    driver.tick(4.0)
    assert ticket in driver.ended
    again = driver.submit(tenant="t")
    assert driver.ended.get(again) != "rate_limit_exceeded"
    driver.rest()


def test_tokens_are_charged_as_the_engine_counted_them() -> None:
    driver = driver_of(Tenant(name="t", tokens_per_minute=1000), queue_limit=5)
    for _ in range(2):
        ticket = driver.submit(tokens=100, max_tokens=200, tenant="t")
        done = Outcome(verdict=Verdict.OK, prompt_tokens=300, completion_tokens=100)
        driver.finish(driver.lease_of(ticket), done)
    assert driver.ended[driver.submit(tokens=100, max_tokens=200, tenant="t")] == "rate_limit_exceeded"
    driver.rest()


def test_a_client_that_leaves_is_charged_for_what_it_got() -> None:
    driver = driver_of(Tenant(name="t", tokens_per_minute=1000))
    ticket = driver.submit(tokens=500, max_tokens=1, tenant="t")
    lease = driver.lease_of(ticket)
    driver.first_token(lease)
    driver.obey(driver.dispatcher.tokens(lease, 400, driver.now))
    driver.cancel(ticket)
    assert driver.ended[driver.submit(tokens=200, max_tokens=1, tenant="t")] == "rate_limit_exceeded"
    driver.rest()


def test_what_was_taken_away_and_never_came_costs_nothing() -> None:
    """The node had begun to compute it when it was needed for others; nobody served it after that."""
    driver = driver_of(Tenant(name="t", requests_per_minute=1), queue_timeout_s=3.0)
    ticket = driver.submit(tenant="t")
    driver.finish(driver.lease_of(ticket), driver.lost(driver.lease_of(ticket), "preempted", Verdict.INTERRUPTED))
    blocking = driver.submit()
    assert ticket in driver.running.values()
    driver.finish(driver.lease_of(ticket), driver.lost(driver.lease_of(ticket), "preempted", Verdict.INTERRUPTED))
    assert blocking in driver.running.values()
    driver.cancel(ticket)
    assert driver.ended.get(driver.submit(tenant="t")) != "rate_limit_exceeded"
    driver.rest()


def test_every_token_that_was_seen_is_charged_the_first_included() -> None:
    driver = driver_of(Tenant(name="t", tokens_per_minute=600))
    ticket = driver.submit(tokens=500, max_tokens=1, tenant="t")
    driver.first_token(driver.lease_of(ticket))
    driver.tokens(driver.lease_of(ticket), 9)
    driver.cancel(ticket)
    assert driver.ended[driver.submit(tokens=90, max_tokens=1, tenant="t")] == "rate_limit_exceeded"
    assert driver.submit(tokens=89, max_tokens=1, tenant="t") in driver.running.values()
    driver.rest()


def test_a_stream_cut_for_good_costs_what_was_delivered_and_its_record_says_so() -> None:
    """More came than was told on the way: tokens are told in batches."""
    told: list[int] = []
    observer = {Ended: lambda fact: told.append(fact.tokens)}
    driver = TestDriver(observers=[observer], tenants=(Tenant(name="t", tokens_per_minute=600),), queue_limit=5)
    driver.add("a", slots=1)
    ticket = driver.submit(tokens=500, max_tokens=1, tenant="t", resumable=True)
    lease = driver.lease_of(ticket)
    driver.first_token(lease)
    driver.tokens(lease, 9)
    driver.finish(lease, msgspec.structs.replace(driver.lost(lease, "reset"), new_tokens=15))
    assert ticket in driver.ended
    assert told == [15]
    assert driver.ended[driver.submit(tokens=85, max_tokens=1, tenant="t")] == "rate_limit_exceeded"
    assert driver.submit(tokens=84, max_tokens=1, tenant="t") in driver.running.values()
    driver.rest()


def test_a_tenant_of_more_weight_gets_more_of_its_turns() -> None:
    driver = driver_of(Tenant(name="big", weight=3.0), order="fair")
    running = driver.submit()
    of = {driver.submit(tenant=tenant): tenant for tenant in ["big", "small"] for _ in range(12)}
    served = []
    for _ in range(12):
        driver.finish(driver.lease_of(running))
        running = next(iter(driver.running.values()))
        served.append(of[running])
    assert served.count("big") in (8, 9, 10)
    driver.rest()


def test_new_rules_apply_at_once() -> None:
    driver = driver_of(Tenant(name="t", concurrent=1))
    driver.submit(tenant="t")
    assert driver.ended[driver.submit(tenant="t")] == "rate_limit_exceeded"
    for tenant in (Tenant(name="t", concurrent=2), Tenant(name="t")):
        settings = BrainSettings(tenants=(tenant,), order="fair")
        driver.obey(driver.dispatcher.configure(settings, driver.now))
        assert driver.submit(tenant="t") in driver.waiting
    driver.rest()
