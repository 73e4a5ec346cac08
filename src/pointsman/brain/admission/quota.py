"""Quotas: requests per minute, tokens per minute and requests at a time, for each tenant.

Rates are token buckets that hold a minute's worth, so a tenant that was idle may spend one at once. A request is
charged when it is submitted, with the tokens it is expected to take, and settled when it is over: what it did not use
is given back, all of it where no node served it. One that needs more than a minute's tokens goes when the bucket is
full, and leaves a debt. A request is charged for everything or, refused by one quota, for nothing.
"""

from collections.abc import Iterable, Mapping

from pointsman.brain.model.errors import TooManyRequests
from pointsman.brain.model.tenant import ANYONE, Tenant

MINUTE = 60.0
CONCURRENT_RETRY_S = 1.0
"""When to try again where only other requests have to end: nobody knows, so soon."""


class Bucket:
    """So many tokens per minute, of which a minute's worth is kept; `rate` 0 is no limit."""

    __slots__ = ("_at", "_level", "_per_minute")

    def __init__(self, per_minute: float, now: float) -> None:
        self._per_minute = per_minute
        self._level = per_minute
        self._at = now

    @property
    def level(self) -> float:
        """What is in it, less than 0 for a debt, as of the last call that took `now`."""
        return self._level

    def configure(self, per_minute: float) -> None:
        """Hold and fill by `per_minute` from now on; what was spent stays spent."""
        self._level += per_minute - self._per_minute
        self._per_minute = per_minute

    def lacking(self, amount: float, now: float) -> float:
        """Seconds until `amount` can be taken; 0 if it can be now."""
        if not self._per_minute:
            return 0.0
        filled = self._level + max(0.0, now - self._at) * self._per_minute / MINUTE
        self._at, self._level = max(self._at, now), min(self._per_minute, filled)
        missing = min(amount, self._per_minute) - self._level
        return max(0.0, missing * MINUTE / self._per_minute)

    def take(self, amount: float) -> None:
        """Take it, or give it back where it is below 0."""
        self._level = min(self._per_minute, self._level - amount)


class _Account:
    """A tenant's buckets and open requests."""

    def __init__(self, rules: Tenant, now: float) -> None:
        self.rules = rules
        self.requests = Bucket(rules.requests_per_minute, now)
        self.tokens = Bucket(rules.tokens_per_minute, now)
        self.open = 0

    def configure(self, rules: Tenant) -> None:
        self.rules = rules
        self.requests.configure(rules.requests_per_minute)
        self.tokens.configure(rules.tokens_per_minute)

    def objection(self, tokens: float, now: float) -> TooManyRequests | None:
        rules = self.rules
        if rules.concurrent and self.open >= rules.concurrent:
            return _refusal(f"its {rules.concurrent} requests at a time", CONCURRENT_RETRY_S)
        if seconds := self.requests.lacking(1.0, now):
            return _refusal(f"its {rules.requests_per_minute:g} requests per minute", seconds)
        if seconds := self.tokens.lacking(tokens, now):
            return _refusal(f"its {rules.tokens_per_minute:g} tokens per minute", seconds)
        return None


class Quotas:
    """The accounts of all tenants that have quotas, and what each open request was charged."""

    def __init__(self, tenants: Iterable[Tenant]) -> None:
        self._rules: Mapping[str, Tenant] = {}
        self._accounts: dict[str, _Account] = {}
        self._charged: dict[int, tuple[_Account, float]] = {}
        self.any = False
        self.configure(tenants)

    def configure(self, tenants: Iterable[Tenant]) -> None:
        """Go by these rules from now on."""
        self._rules = {tenant.name: tenant for tenant in tenants}
        self.any = any(tenant.limited for tenant in self._rules.values())
        for name, account in list(self._accounts.items()):
            rules = self._rules_of(name)
            if rules is None:
                del self._accounts[name]
            else:
                account.configure(rules)

    def admit(self, ticket: int, name: str, tokens: float, now: float) -> TooManyRequests | None:
        """Charge the tenant for a request of so many tokens, or say which quota is used up."""
        account = self._account(name, now)
        if account is None:
            return None
        refusal = account.objection(tokens, now)
        if refusal is None:
            account.open += 1
            account.requests.take(1.0)
            account.tokens.take(tokens)
            self._charged[ticket] = account, tokens
        return refusal

    def over(self, ticket: int, used: float | None) -> None:
        """The request is over and used so many tokens; None where no node served it. Repeating is harmless."""
        charged = self._charged.pop(ticket, None)
        if charged is None:
            return
        account, tokens = charged
        account.open -= 1
        account.tokens.take((used or 0.0) - tokens)
        if used is None:
            account.requests.take(-1.0)

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


def _refusal(what: str, seconds: float) -> TooManyRequests:
    return TooManyRequests(f"the tenant has used {what}; try again in {seconds:.3g} s", retry_after_s=seconds)
