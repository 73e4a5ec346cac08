"""Labels of tenants."""

from pointsman.brain.model.tenant import Tenant
from pointsman.observe.by_tenant import TenantLabels


def test_only_the_configured_have_a_label_of_their_own() -> None:
    labels = TenantLabels(lambda: configured)
    configured: tuple[Tenant, ...] = (Tenant(name="acme"), Tenant(name="*"))
    assert [labels.of(name) for name in ("acme", "beta", "*", "")] == ["acme", "other", "other", "other"]
    configured = (Tenant(name="beta"),)
    assert [labels.of(name) for name in ("acme", "beta")] == ["other", "beta"]


def test_where_nobody_is_configured_nobody_is_counted() -> None:
    assert TenantLabels(tuple).of("acme") == ""
