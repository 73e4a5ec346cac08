"""Caps on the share of KV memory that one tenant's live requests hold: of all nodes together, and of any one.

A tenant that is at its cap waits, whatever room there is, in a queue of its own, so that nobody waits behind it. One
that holds nothing may always place one request, however large: else one above its share would wait for ever. Nodes
whose memory is not known cap nobody and count for nothing.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable

import numpy as np

from pointsman.brain.fleet import Fleet
from pointsman.brain.model.tenant import ANYONE, Tenant
from pointsman.brain.model.view import Rows


class TenantShares:
    """What each capped tenant's leases hold (tokens of KV, by fleet row); `on` tells whether any tenant is capped.

    Mutated as leases come and go.
    """

    def __init__(self, tenants: Iterable[Tenant], fleet: Fleet) -> None:
        self._fleet = fleet
        self._rules: dict[str, Tenant] = {}
        self._held: defaultdict[str, Counter[int]] = defaultdict(Counter)
        self._leases: dict[int, tuple[str, int, int]] = {}
        self.on = False
        self.configure(tenants)

    def configure(self, tenants: Iterable[Tenant]) -> None:
        """Go by these rules from now on. What runs without having been counted stays uncounted."""
        self._rules = {tenant.name: tenant for tenant in tenants}
        self.on = any(tenant.capped for tenant in self._rules.values())

    def caps(self, tenant: str) -> bool:
        """Whether the tenant has a cap."""
        return self.on and self._of(tenant) is not None

    def among(self, rows: Rows, tenant: str, tokens: float) -> Rows:
        """Those of `rows` where the tenant may hold so many tokens more."""
        rules = self._of(tenant)
        held = self._held.get(tenant)
        if rules is None or not held:
            return rows
        if rules.kv_share and held.total() + tokens > rules.kv_share * self._whole():
            return rows[:0]
        if not rules.node_share:
            return rows
        room = [self._has_room(row, held[row], tokens, rules.node_share) for row in rows.tolist()]
        return rows[np.array(room, dtype=np.bool_)]

    def begun(self, lease: int, row: int, tenant: str, blocks: int) -> None:
        """A lease of the tenant holds so many blocks on the node at `row`."""
        if self._of(tenant) is not None:
            tokens = int(blocks * self._fleet.cells.block_tokens[row])
            self._leases[lease] = tenant, row, tokens
            self._held[tenant][row] += tokens

    def ended(self, lease: int) -> None:
        """A lease ended. Repeating is harmless."""
        counted = self._leases.pop(lease, None)
        if counted is None:
            return
        tenant, row, tokens = counted
        held = self._held[tenant]
        held[row] -= tokens
        if not held[row]:
            del held[row]
        if not held:
            del self._held[tenant]

    def held(self, tenant: str) -> int:
        """Tokens of KV that the tenant's counted leases hold on all nodes."""
        return self._held[tenant].total() if tenant in self._held else 0

    def at_rest(self) -> bool:
        """Whether nothing is held."""
        return not self._leases and not self._held

    def _of(self, tenant: str) -> Tenant | None:
        rules = self._rules.get(tenant) or self._rules.get(ANYONE)
        return rules if rules is not None and rules.capped else None

    def _whole(self) -> float:
        """Tokens of KV of all nodes that tell theirs; without any, there is no end to it."""
        table = self._fleet.table
        known = np.isfinite(table.kv_capacity)
        return float((table.kv_capacity * table.block_tokens)[known].sum()) if known.any() else np.inf

    def _has_room(self, row: int, held: int, tokens: float, share: float) -> bool:
        cells = self._fleet.cells
        return not held or held + tokens <= share * cells.kv_capacity[row] * cells.block_tokens[row]
