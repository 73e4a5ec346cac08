"""Quotas as one would work them out on paper: from all that ever happened, in fractions, again for every question.

Written to be compared with, not to be fast: nothing is kept but who was charged what and when.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from pointsman.brain.model.tenant import ANYONE, Tenant

MINUTE = 60
NONE = Tenant(name=ANYONE)


@dataclass
class Line:
    """A rate of a tenant's since it was limited: what was taken, or given back, and to what it was changed."""

    rate: Fraction
    since: Fraction
    events: list[tuple[Fraction, str, Fraction]] = field(default_factory=list)

    def level(self, now: Fraction) -> Fraction:
        """What is left now, of a minute's worth at most; time that goes back stands still."""
        rate, level, at = self.rate, self.rate, self.since
        for when, what, amount in [*self.events, (now, "take", Fraction())]:
            level = min(rate, level + max(Fraction(), when - at) * rate / MINUTE)
            at = max(at, when)
            if what == "rate":
                level, rate = level + amount - rate, amount
            else:
                level = min(rate, level - amount)
        return level

    def rate_now(self) -> Fraction:
        rates = [amount for _, what, amount in self.events if what == "rate"]
        return rates[-1] if rates else self.rate

    def seconds(self, amount: Fraction, now: Fraction) -> Fraction:
        """Until `amount` may be taken, or all there can be."""
        rate = self.rate_now()
        return max(Fraction(), (min(amount, rate) - self.level(now)) * MINUTE / rate)


@dataclass
class Tab:
    """What one tenant has open, under which rates."""

    rules: Tenant
    requests: Line | None = None
    tokens: Line | None = None
    open: dict[int, "Bill"] = field(default_factory=dict)


@dataclass(frozen=True)
class Bill:
    requests: Line | None
    tokens: Line | None
    amount: Fraction


class PlainQuotas:
    """`seconds` asks, `charge` and `settle` tell. Times in seconds, amounts in tokens."""

    def __init__(self, tenants: Iterable[Tenant]) -> None:
        self.tabs: dict[str, Tab] = {}
        self.rules: dict[str, Tenant] = {}
        self.configure(tenants, 0.0)

    def configure(self, tenants: Iterable[Tenant], now: float) -> None:
        self.rules = {tenant.name: tenant for tenant in tenants}
        for name in list(self.tabs):
            if not self._of(name).limited and not self.tabs[name].open:
                del self.tabs[name]
            else:
                self._apply(self.tabs[name], self._of(name), Fraction(now))

    def seconds(self, name: str, tokens: float, now: float) -> float | None:
        """Until the tenant may have such a request, 0 for now; None where only others' ends can tell."""
        tab = self._tab(name, now)
        if tab is None:
            return 0.0
        by_requests = tab.requests.seconds(Fraction(1), Fraction(now)) if tab.requests else Fraction()
        by_tokens = tab.tokens.seconds(Fraction(tokens), Fraction(now)) if tab.tokens else Fraction()
        if tab.rules.concurrent and len(tab.open) >= tab.rules.concurrent:
            return None
        return float(max(by_requests, by_tokens))

    def charge(self, ticket: int, name: str, tokens: float, now: float) -> None:
        tab = self._tab(name, now)
        if tab is None:
            return
        at, amount = Fraction(now), Fraction(tokens)
        tab.open[ticket] = Bill(tab.requests, tab.tokens, amount)
        if tab.requests:
            tab.requests.events.append((at, "take", Fraction(1)))
        if tab.tokens:
            tab.tokens.events.append((at, "take", amount))

    def settle(self, ticket: int, used: float | None, now: float) -> None:
        """The request is over; `used` None where it was not served."""
        for tab in self.tabs.values():
            bill = tab.open.pop(ticket, None)
            if bill is not None and bill.tokens:
                bill.tokens.events.append((Fraction(now), "take", Fraction(used or 0.0) - bill.amount))
            if bill is not None and bill.requests and used is None:
                bill.requests.events.append((Fraction(now), "take", Fraction(-1)))

    def _of(self, name: str) -> Tenant:
        return self.rules.get(name) or self.rules.get(ANYONE) or NONE

    def _tab(self, name: str, now: float) -> Tab | None:
        if name not in self.tabs and self._of(name).limited:
            self.tabs[name] = Tab(NONE)
            self._apply(self.tabs[name], self._of(name), Fraction(now))
        tab = self.tabs.get(name)
        return tab if tab is not None and tab.rules.limited else None

    def _apply(self, tab: Tab, rules: Tenant, now: Fraction) -> None:
        tab.rules = rules
        tab.requests = _line(tab.requests, rules.requests_per_minute, now)
        tab.tokens = _line(tab.tokens, rules.tokens_per_minute, now)


def _line(before: Line | None, rate: float, now: Fraction) -> Line | None:
    if not rate:
        return None
    if before is None:
        return Line(Fraction(rate), now)
    before.events.append((now, "rate", Fraction(rate)))
    return before
