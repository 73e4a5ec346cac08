"""Quotas: requests per minute, tokens per minute and requests at a time, for each tenant.

Rates are token buckets that hold a minute's worth, so a tenant that was idle may spend one at once. A request is
charged when it is submitted, with the tokens it is expected to take, and settled when it is over: what it did not use
is given back, all of it where no node served it. One that needs more than a minute's tokens goes when the bucket is
full, and leaves a debt. A request is charged for everything or, refused by one quota, for nothing; and is told when all
of them will take it. What was not charged is not given back: a rate that is set anew begins with a full bucket, and
requests charged before settle with the one they were charged to. Who comes while nothing is limited is not counted.
"""

from collections.abc import Iterable, Mapping

import msgspec

from pointsman.brain.model.errors import TooManyRequests
from pointsman.brain.model.tenant import ANYONE, Tenant

MINUTE = 60.0
CONCURRENT_RETRY_S = 1.0
"""When to try again where only other requests have to end: nobody knows, so soon."""
_NO_TIME_S = 1e-6
"""A wait shorter than this is none: sums of floats are off by less. Else who comes when told could be early."""
_UNLIMITED = Tenant(name=ANYONE)


class Bucket:
    """So many tokens per minute, of which a minute's worth is kept."""

    __slots__ = ("_at", "_level", "_per_minute")

    def __init__(self, per_minute: float, now: float) -> None:
        self._per_minute = per_minute
        self._level = per_minute
        self._at = now

    @property
    def level(self) -> float:
        """What is in it, less than 0 for a debt, as of the last call that took `now`."""
        return self._level

    def configure(self, per_minute: float, now: float) -> None:
        """Hold and fill by `per_minute` from now on; what was spent stays spent."""
        self._fill(now)
        self._level += per_minute - self._per_minute
        self._per_minute = per_minute

    def lacking(self, amount: float, now: float) -> float:
        """Seconds until `amount` can be taken; 0 if it can be now."""
        self._fill(now)
        missing = min(amount, self._per_minute) - self._level
        seconds = missing * MINUTE / self._per_minute
        return seconds if seconds > _NO_TIME_S else 0.0

    def take(self, amount: float, now: float) -> None:
        """Take it, or give it back where it is below 0."""
        self._fill(now)
        self._level = min(self._per_minute, self._level - amount)

    def _fill(self, now: float) -> None:
        filled = self._level + max(0.0, now - self._at) * self._per_minute / MINUTE
        self._at, self._level = max(self._at, now), min(self._per_minute, filled)


class _Account:
    """A tenant's buckets, None where that rate is not limited, and open requests."""

    def __init__(self, rules: Tenant, now: float) -> None:
        self.rules = rules
        self.requests = _bucket(None, rules.requests_per_minute, now)
        self.tokens = _bucket(None, rules.tokens_per_minute, now)
        self.open = 0

    def configure(self, rules: Tenant, now: float) -> None:
        self.rules = rules
        self.requests = _bucket(self.requests, rules.requests_per_minute, now)
        self.tokens = _bucket(self.tokens, rules.tokens_per_minute, now)

    def objection(self, tokens: float, now: float) -> TooManyRequests | None:
        """The quota that takes longest to allow so many tokens more, if one does not now."""
        rules = self.rules
        others = CONCURRENT_RETRY_S if rules.concurrent and self.open >= rules.concurrent else 0.0
        by_requests = self.requests.lacking(1.0, now) if self.requests else 0.0
        by_tokens = self.tokens.lacking(tokens, now) if self.tokens else 0.0
        longest = max(others, by_requests, by_tokens)
        if not longest:
            return None
        if longest == by_tokens:
            return _refusal(f"its {rules.tokens_per_minute:g} tokens per minute", longest)
        if longest == by_requests:
            return _refusal(f"its {rules.requests_per_minute:g} requests per minute", longest)
        return _refusal(f"its {rules.concurrent} requests at a time", longest)

    def charge(self, tokens: float, now: float) -> "_Charge":
        self.open += 1
        if self.requests is not None:
            self.requests.take(1.0, now)
        if self.tokens is not None:
            self.tokens.take(tokens, now)
        return _Charge(self, self.requests, self.tokens, tokens)


class _Charge(msgspec.Struct, frozen=True, gc=False):
    """What an open request was charged, and to which buckets."""

    account: _Account
    requests: Bucket | None
    tokens: Bucket | None
    amount: float


class Quotas:
    """The accounts of all tenants that have quotas, and what each open request was charged."""

    def __init__(self, tenants: Iterable[Tenant]) -> None:
        self._rules: Mapping[str, Tenant] = {}
        self._accounts: dict[str, _Account] = {}
        self._charged: dict[int, _Charge] = {}
        self.any = False
        self.configure(tenants, 0.0)

    def configure(self, tenants: Iterable[Tenant], now: float) -> None:
        """Go by these rules from now on. Open requests of a tenant that had quotas before are counted on."""
        self._rules = {tenant.name: tenant for tenant in tenants}
        self.any = any(tenant.limited for tenant in self._rules.values())
        for name, account in list(self._accounts.items()):
            rules = self._rules_of(name)
            if rules is None and not account.open:
                del self._accounts[name]
            else:
                account.configure(rules or _UNLIMITED, now)

    def admit(self, ticket: int, name: str, tokens: float, now: float) -> TooManyRequests | None:
        """Charge the tenant for a request of so many tokens, or say when it may have it, and which quota says so."""
        account = self._account(name, now)
        if account is None or not account.rules.limited:
            return None
        refusal = account.objection(tokens, now)
        if refusal is None:
            self._charged[ticket] = account.charge(tokens, now)
        return refusal

    def charged(self, ticket: int) -> bool:
        """Whether the request is open and was charged."""
        return ticket in self._charged

    def over(self, ticket: int, used: float | None, now: float) -> None:
        """The request is over and used so many tokens; None where no node served it. Repeating is harmless."""
        charge = self._charged.pop(ticket, None)
        if charge is None:
            return
        charge.account.open -= 1
        if charge.tokens is not None:
            charge.tokens.take((used or 0.0) - charge.amount, now)
        if used is None and charge.requests is not None:
            charge.requests.take(-1.0, now)

    def at_rest(self) -> bool:
        """Whether no request is open."""
        return not self._charged and not any(account.open for account in self._accounts.values())

    def _account(self, name: str, now: float) -> _Account | None:
        account = self._accounts.get(name)
        if account is None:
            rules = self._rules_of(name)
            if rules is not None:
                account = self._accounts[name] = _Account(rules, now)
        return account

    def _rules_of(self, name: str) -> Tenant | None:
        rules = self._rules.get(name) or self._rules.get(ANYONE)
        return rules if rules is not None and rules.limited else None


def _bucket(before: Bucket | None, per_minute: float, now: float) -> Bucket | None:
    """The bucket for a rate, 0 for any, that goes on where there was one."""
    if not per_minute:
        return None
    if before is None:
        return Bucket(per_minute, now)
    before.configure(per_minute, now)
    return before


def _refusal(what: str, seconds: float) -> TooManyRequests:
    return TooManyRequests(f"the tenant has used {what}; try again in {seconds:.3g} s", retry_after_s=seconds)
