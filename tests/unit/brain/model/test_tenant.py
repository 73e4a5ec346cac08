"""Rules of tenants."""

import pytest

from pointsman.brain.model.tenant import Tenant


@pytest.mark.parametrize(
    ("rules", "limited"),
    [
        ({}, False),
        ({"weight": 2.0, "priority": 3.0}, False),
        ({"concurrent": 1}, True),
        ({"requests_per_minute": 1.0}, True),
        ({"tokens_per_minute": 1.0}, True),
    ],
)
def test_who_has_a_quota(rules: dict[str, float], limited: bool) -> None:
    assert Tenant(name="t", **rules).limited is limited  # type: ignore[arg-type]
