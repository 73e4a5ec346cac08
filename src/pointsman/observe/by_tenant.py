"""Under which label a tenant's requests are counted: a client may make up names, so only those configured have one."""

from collections.abc import Callable, Sequence

from pointsman.brain.model.tenant import ANYONE, Tenant

OTHER = "other"

Tenants = Callable[[], Sequence[Tenant]]


class TenantLabels:
    """Labels by the tenants in use, which `tenants` tells; there is none, "", while none is configured."""

    def __init__(self, tenants: Tenants) -> None:
        self._tenants = tenants
        self._known: Sequence[Tenant] = ()
        self._labels: frozenset[str] = frozenset()

    def of(self, tenant: str) -> str:
        """The tenant's own name, or `other`."""
        now = self._tenants()
        if now is not self._known:
            self._known = now
            self._labels = frozenset(each.name for each in now) - {ANYONE}
        if tenant in self._labels:
            return tenant
        return OTHER if now else ""
