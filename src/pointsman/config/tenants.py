"""What `[[tenants]]` says, checked, and made what the brain goes by."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from math import ceil

import msgspec

from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.model.tenant import ANYONE, Tenant
from pointsman.config.flags import ConfigError
from pointsman.gateway.access import DIGEST

_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")


def with_tenants(brain: BrainSettings, tenants: Sequence[Tenant], share: int = 1) -> BrainSettings:
    """`brain` with the tenants' rules, of whose quotas this process keeps one part of `share`. Raises ConfigError."""
    if brain.tenants:
        raise ConfigError("`brain.tenants` is not to be set: tenants stand in tables of their own, [[tenants]]")
    _check_names(tenants)
    return msgspec.structs.replace(brain, tenants=tuple(_part(tenant, share) for tenant in tenants))


def check_keys(tenants: Iterable[tuple[str, Sequence[str]]], others: Iterable[str]) -> None:
    """Each key is one tenant's, and `*` has none. Raises ConfigError, which shows no key."""
    owner = dict.fromkeys(others, "api_keys")
    for key in owner:
        _check_key("`api_keys`: a key", key)
    for name, keys in tenants:
        if name == ANYONE and keys:
            raise ConfigError("`tenants`: `*` stands for whoever is not named and has no `keys`; give them to api_keys")
        for key in keys:
            _check_key(f"`tenants`: a key of {name!r}", key)
            if owner.setdefault(key, name) != name:
                raise ConfigError(f"`tenants`: a key of {name!r} is also that of {owner[key]!r}; give each its own")


def _check_key(whose: str, key: str) -> None:
    """A digest that is none would be taken for a key that nobody has."""
    if not key:
        raise ConfigError(f"{whose} is empty")
    if key.lower().startswith("sha256:") and not DIGEST.fullmatch(key):
        raise ConfigError(
            f"{whose} begins with sha256: and is no digest; 64 of 0-9 and a-f follow: printf %s KEY | sha256sum"
        )


def _check_names(tenants: Sequence[Tenant]) -> None:
    for name, count in Counter(tenant.name for tenant in tenants).items():
        if count > 1:
            raise ConfigError(f"`tenants`: {name!r} is there more than once; put its keys into one list")
        if name != ANYONE and not _NAME.fullmatch(name):
            raise ConfigError(f"`tenants`: {name!r} may have letters, digits and ._- only, at most 64")


def _part(tenant: Tenant, share: int) -> Tenant:
    """The rules for one of `share` processes; requests at a time are rounded up, so that each may have one."""
    return Tenant(
        name=tenant.name,
        weight=tenant.weight,
        priority=tenant.priority,
        priority_ceiling=tenant.priority_ceiling,
        requests_per_minute=tenant.requests_per_minute / share,
        tokens_per_minute=tenant.tokens_per_minute / share,
        concurrent=ceil(tenant.concurrent / share),
        kv_share=tenant.kv_share / share,
        node_share=tenant.node_share / share,
    )
