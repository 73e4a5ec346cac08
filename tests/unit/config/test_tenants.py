"""What `[[tenants]]` says."""

import pytest

from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.model.tenant import Tenant
from pointsman.config.flags import ConfigError, convert
from pointsman.config.serve import ServeConfig, brain_settings, gateway_settings
from pointsman.config.tenants import with_tenants


def test_the_brain_is_told_the_rules_and_no_keys() -> None:
    acme = {"name": "acme", "keys": ["k1"], "weight": 2, "priority": 3, "priority_ceiling": 4, "concurrent": 5}
    config = convert(
        {"tenants": [acme, {"name": "*", "requests_per_minute": 60}], "api_keys": ["k0"]}, ServeConfig, "f"
    )
    assert brain_settings(config).tenants == (
        Tenant(name="acme", weight=2.0, priority=3.0, priority_ceiling=4.0, concurrent=5),
        Tenant(name="*", requests_per_minute=60.0),
    )
    assert "k1" not in repr(brain_settings(config))
    assert gateway_settings(config).tenants[0].keys == ("k1",)


def test_each_worker_keeps_its_part_of_the_quotas() -> None:
    rules = Tenant(name="t", requests_per_minute=60, tokens_per_minute=1000, concurrent=5)
    assert with_tenants(BrainSettings(), [rules], 4).tenants == (
        Tenant(name="t", requests_per_minute=15, tokens_per_minute=250, concurrent=2),
    )


@pytest.mark.parametrize(
    ("tenants", "message"),
    [
        ([{"name": "a"}, {"name": "a"}], "'a' is there more than once"),
        ([{"name": "a b"}], "'a b' may have letters"),
        ([{"name": "a", "keys": ["k"]}, {"name": "b", "keys": ["k"]}], "a key of 'b' is also that of 'a'"),
        ([{"name": "a", "keys": ["k0"]}], "a key of 'a' is also that of 'api_keys'"),
        ([{"name": "a", "keys": [""]}], "a key of 'a' is empty"),
        ([{"name": "a", "keys": ["sha256:" + "0" * 63]}], "a key of 'a' begins with sha256: and is no digest"),
        ([{"name": "a", "keys": ["SHA256:" + "0" * 64]}], "a key of 'a' begins with sha256: and is no digest"),
        ([{"name": "*", "keys": ["k"]}], "`\\*` stands for whoever is not named"),
    ],
)
def test_tenants_that_cannot_be_told_apart(tenants: list[dict[str, object]], message: str) -> None:
    config = convert({"tenants": tenants, "api_keys": ["k0"]}, ServeConfig, "f")
    with pytest.raises(ConfigError, match=message):
        (brain_settings(config), gateway_settings(config))


@pytest.mark.parametrize("rule", [{"weight": 0}, {"priority": -1}, {"concurrent": -1}, {"quota": 1}, {"name": ""}])
def test_rules_that_cannot_be(rule: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=r"tenants"):
        convert({"tenants": [{"name": "a"} | rule]}, ServeConfig, "f")


def test_tenants_do_not_stand_under_brain() -> None:
    with pytest.raises(ConfigError, match=r"tables of their own, \[\[tenants\]\]"):
        with_tenants(BrainSettings(tenants=(Tenant(name="a"),)), [])
