"""Quotas: exact refusals, and what is not used is given back."""

import pytest

from pointsman.brain.admission.quota import Bucket, Quotas
from pointsman.brain.model.errors import TooManyRequests
from pointsman.brain.model.tenant import Tenant


def admitted(quotas: Quotas, tickets: range, name: str = "t", tokens: float = 10.0, now: float = 0.0) -> list[bool]:
    return [quotas.admit(ticket, name, tokens, now) is None for ticket in tickets]


def retry_after(refusal: TooManyRequests | None) -> float:
    assert refusal is not None
    assert refusal.status == 429
    assert refusal.retry_after_s is not None
    return refusal.retry_after_s


def test_a_minutes_requests_may_come_at_once_and_not_one_more() -> None:
    quotas = Quotas([Tenant(name="t", requests_per_minute=6)])
    assert admitted(quotas, range(8)) == 6 * [True] + 2 * [False]
    refusal = quotas.admit(9, "t", 1.0, 4.0)
    assert retry_after(refusal) == pytest.approx(6.0)
    assert str(refusal) == "the tenant has used its 6 requests per minute; try again in 6 s"
    assert admitted(quotas, range(20, 22), now=10.0) == [True, False]


def test_tokens_are_settled_by_what_was_used() -> None:
    quotas = Quotas([Tenant(name="t", tokens_per_minute=600)])
    assert admitted(quotas, range(3), tokens=300.0) == [True, True, False]
    quotas.over(0, 100.0, 0.0)
    assert admitted(quotas, range(3, 5), tokens=200.0) == [True, False]
    quotas.over(1, 400.0, 0.0)
    assert retry_after(quotas.admit(9, "t", 50.0, 0.0)) == pytest.approx(15.0), "what was too little is owed"


def test_a_request_of_more_than_a_minute_goes_when_nothing_is_owed() -> None:
    quotas = Quotas([Tenant(name="t", tokens_per_minute=60)])
    assert admitted(quotas, range(2), tokens=120.0) == [True, False]
    assert retry_after(quotas.admit(3, "t", 120.0, 60.0)) == pytest.approx(60.0)
    assert quotas.admit(3, "t", 120.0, 120.0) is None


def test_one_whom_no_node_served_gets_all_back() -> None:
    quotas = Quotas([Tenant(name="t", requests_per_minute=1, tokens_per_minute=50)])
    assert admitted(quotas, range(2), tokens=50.0) == [True, False]
    quotas.over(0, None, 0.0)
    quotas.over(0, None, 0.0)
    assert admitted(quotas, range(2, 4), tokens=50.0) == [True, False]


def test_who_is_refused_by_one_quota_is_not_charged_by_the_others() -> None:
    quotas = Quotas([Tenant(name="t", requests_per_minute=2, tokens_per_minute=100)])
    assert admitted(quotas, range(5), tokens=100.0) == [True, False, False, False, False]
    assert admitted(quotas, range(5, 6), tokens=100.0, now=60.0) == [True]


def test_requests_at_a_time() -> None:
    quotas = Quotas([Tenant(name="t", concurrent=2)])
    assert admitted(quotas, range(3)) == [True, True, False]
    assert retry_after(quotas.admit(3, "t", 1.0, 0.0)) == 1.0
    quotas.over(2, None, 0.0)
    quotas.over(1, 5.0, 0.0)
    assert not quotas.at_rest()
    assert admitted(quotas, range(4, 6)) == [True, False]
    for ticket in (0, 4):
        quotas.over(ticket, 5.0, 0.0)
    assert quotas.at_rest()


def test_who_is_short_of_two_quotas_is_told_the_longer_time() -> None:
    quotas = Quotas([Tenant(name="t", requests_per_minute=60, tokens_per_minute=600, concurrent=60)])
    assert admitted(quotas, range(61)) == 60 * [True] + [False]
    refusal = quotas.admit(99, "t", 100.0, 0.0)
    assert retry_after(refusal) == pytest.approx(10.0)
    assert "600 tokens per minute" in str(refusal)
    assert quotas.admit(100, "t", 100.0, 9.999) is not None
    assert quotas.admit(101, "t", 100.0, 10.0) is not None, "sixty at a time"
    quotas.over(0, 10.0, 10.0)
    assert quotas.admit(102, "t", 100.0, 10.0) is None


def test_what_was_used_beyond_the_charge_is_not_forgiven_by_time_before() -> None:
    quotas = Quotas([Tenant(name="t", tokens_per_minute=600)])
    assert admitted(quotas, range(1), tokens=100.0) == [True]
    quotas.over(0, 600.0, 60.0)
    assert retry_after(quotas.admit(1, "t", 200.0, 60.0)) == pytest.approx(10.0)


def test_a_limit_that_is_new_owes_nothing_and_gives_nothing_back() -> None:
    few = Tenant(name="t", requests_per_minute=2)
    quotas = Quotas([Tenant(name="t", concurrent=1000)])
    assert admitted(quotas, range(500)) == 500 * [True]
    quotas.configure([few], 1.0)
    assert admitted(quotas, range(500, 503), now=1.0) == [True, True, False]
    for ticket in range(500):
        quotas.over(ticket, None, 1.0)
    assert retry_after(quotas.admit(503, "t", 1.0, 1.0)) == pytest.approx(30.0)


def test_who_was_open_before_a_limit_went_is_open_when_it_comes_back() -> None:
    quotas = Quotas([Tenant(name="t", concurrent=2)])
    assert admitted(quotas, range(2)) == [True, True]
    quotas.configure([], 0.0)
    assert admitted(quotas, range(2, 5)) == [True, True, True]
    quotas.configure([Tenant(name="t", concurrent=2)], 0.0)
    assert admitted(quotas, range(5, 6)) == [False]
    for ticket in range(2):
        assert quotas.charged(ticket)
        quotas.over(ticket, 1.0, 0.0)
    assert admitted(quotas, range(6, 9)) == [True, True, False]


def test_who_has_no_rules_has_those_of_anyone_each_for_itself() -> None:
    quotas = Quotas([Tenant(name="free"), Tenant(name="*", concurrent=1)])
    assert admitted(quotas, range(3), "free") == [True, True, True]
    assert admitted(quotas, range(3, 5), "a") == [True, False]
    assert admitted(quotas, range(5, 7), "b") == [True, False]


def test_without_quotas_nothing_is_kept() -> None:
    quotas = Quotas([Tenant(name="t", weight=2.0)])
    assert not quotas.any
    assert admitted(quotas, range(3)) == [True, True, True]
    assert quotas.at_rest()


def test_new_rules_keep_what_was_spent() -> None:
    quotas = Quotas([Tenant(name="t", requests_per_minute=4), Tenant(name="gone", concurrent=1)])
    assert admitted(quotas, range(3)) == [True, True, True]
    assert quotas.admit(9, "gone", 1.0, 0.0) is None
    quotas.configure([Tenant(name="t", requests_per_minute=5)], 0.0)
    assert admitted(quotas, range(3, 6)) == [True, True, False]
    quotas.over(9, 1.0, 0.0)
    assert quotas.admit(10, "gone", 1.0, 0.0) is None


def test_a_bucket_does_not_fill_when_time_stands_still_or_goes_back() -> None:
    bucket = Bucket(60.0, now=10.0)
    bucket.take(60.0, 10.0)
    assert bucket.lacking(1.0, 5.0) == pytest.approx(1.0)
    assert bucket.lacking(1.0, 10.5) == pytest.approx(0.5)
    assert bucket.level == pytest.approx(0.5)
