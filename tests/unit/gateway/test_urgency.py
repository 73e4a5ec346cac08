"""How urgent a request is."""

import pytest

from pointsman.brain.model.errors import BadRequest
from pointsman.brain.model.tenant import Tenant
from pointsman.gateway.urgency import Urgency, ttft_slo

RULES = {
    "gold": Tenant(name="gold", priority=2.0, priority_ceiling=8.0),
    "batch": Tenant(name="batch", priority=0.25),
    "*": Tenant(name="*", priority=0.5, priority_ceiling=1.0),
}


def priority(tenant: str, header: str = "", body: str = "", slo_s: float | None = None) -> float:
    fields = {b"x-pointsman-priority": header.encode()} if header else {}
    return Urgency(RULES).priority(tenant, fields, body.encode(), slo_s)


@pytest.mark.parametrize(("tenant", "expected"), [("gold", 2.0), ("batch", 0.25), ("who", 0.5), ("", 0.5)])
def test_who_asks_for_nothing_has_its_tenants_priority(tenant: str, expected: float) -> None:
    assert priority(tenant) == expected


@pytest.mark.parametrize(
    ("tenant", "header", "expected"),
    [("gold", "5", 5.0), ("gold", "100", 8.0), ("gold", "0.1", 0.1), ("batch", "1", 0.25)],
)
def test_a_request_may_ask_for_more_up_to_the_ceiling_and_for_any_less(
    tenant: str, header: str, expected: float
) -> None:
    assert priority(tenant, header) == expected


@pytest.mark.parametrize(
    ("body", "expected"), [("0", 1.0), ("-2", 4.0), ("-99999", 8.0), ("3", 0.125), ("1.5", 1.0), ('"high"', 1.0)]
)
def test_the_bodys_priority_is_read_as_vllm_does(body: str, expected: float) -> None:
    assert priority("gold", body=body) == expected
    assert priority("gold", "5", body) == 5.0, "our own header counts more"


def test_half_of_the_usual_time_to_the_first_token_counts_twice() -> None:
    assert priority("gold", slo_s=2.5) == 2.0
    assert priority("gold", slo_s=0.01) == 8.0
    assert priority("gold", "1", slo_s=0.01) == 1.0


def test_without_rules_nobody_goes_before_others_by_asking() -> None:
    assert Urgency({}).priority("", {b"x-pointsman-priority": b"1000"}, b"", None) == 1.0


@pytest.mark.parametrize("header", ["-1", "0", "0.0", "high", "1e9", "nan", "1.2.3", ".", "9" * 13])
def test_what_is_no_priority_is_told(header: str) -> None:
    with pytest.raises(BadRequest, match="x-pointsman-priority must be a number above 0"):
        priority("gold", header)


def test_the_wish_for_a_first_token() -> None:
    assert ttft_slo({}) is None
    assert ttft_slo({b"x-slo-ttft-ms": b"250"}) == 0.25


@pytest.mark.parametrize("wish", [b"0", b"-5", b"soon", b"1.5", b"9" * 13])
def test_what_is_no_time_is_told(wish: bytes) -> None:
    with pytest.raises(BadRequest, match="x-slo-ttft-ms must be a whole number of milliseconds above 0"):
        ttft_slo({b"x-slo-ttft-ms": wish})
