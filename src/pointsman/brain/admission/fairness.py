"""Fair shares by the Virtual Token Counter (Sheng et al., Fairness in Serving Large Language Models, OSDI 2024).

Each tenant of a model has a counter of the service it has had: `INPUT_WEIGHT` for every prompt token that a node had to
compute, charged when the request is placed, and `OUTPUT_WEIGHT` for every output token, charged as tokens are seen and
settled by what the engine says at the end; both over the tenant's weight. Whoever has the least counter goes next. A
tenant that was idle has no claim on what it left unused: when it comes back its counter is lifted to the least of those
who wait, or to that of the tenant who left the queue last. When a model is at rest its counters begin anew, as the
virtual time of any fair queue does.

Two tenants who both always have something waiting differ, over any time, by at most 2·max(w_in·L_in, w_out·M) of
service: L_in is the longest prompt, M the most tokens in flight at once (theorem 4.4 there).
"""

from collections.abc import Mapping

from pointsman.brain.model.outcome import FAILURES, Outcome

INPUT_WEIGHT = 1.0
OUTPUT_WEIGHT = 2.0
"""An output token costs an engine about twice as much: the weights of the paper, and near those of price lists."""


def service(input_tokens: float, output_tokens: float) -> float:
    """What so many tokens count as."""
    return INPUT_WEIGHT * input_tokens + OUTPUT_WEIGHT * output_tokens


class TokenCounters:
    """The counters of one model's tenants; those who wait, and how many requests run. Mutated by queue and leases."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self.weights = weights
        self._counters: dict[str, float] = {}
        self._waiting: dict[str, int] = {}
        self._last = ""
        self._running = 0

    def of(self, tenant: str) -> float:
        """The tenant's counter: service over weight."""
        return self._counters.get(tenant, 0.0)

    def joined(self, tenant: str) -> None:
        """A request of the tenant waits from now on."""
        waiting = self._waiting.get(tenant, 0)
        if not waiting:
            self._lift(tenant)
        self._waiting[tenant] = waiting + 1

    def left(self, tenant: str) -> None:
        """A request of the tenant waits no longer."""
        self._waiting[tenant] -= 1
        if not self._waiting[tenant]:
            del self._waiting[tenant]
        self._last = tenant
        self._rest()

    def begun(self, tenant: str) -> None:
        """A request of the tenant was placed; where nobody waits it has been through an empty queue."""
        if not self._waiting:
            self._lift(tenant)
            self._last = tenant
        self._running += 1

    def ended(self) -> None:
        """A placed request is over, and charged for."""
        self._running -= 1
        self._rest()

    def charge(self, tenant: str, served: float) -> None:
        """The tenant had so much service; less than 0 gives back what was charged too much."""
        self._counters[tenant] = self.of(tenant) + served / self.weights.get(tenant, 1.0)

    def at_rest(self) -> bool:
        """Whether nothing waits, runs or is remembered."""
        return not (self._counters or self._waiting or self._running)

    def _lift(self, tenant: str) -> None:
        floor = min(map(self.of, self._waiting)) if self._waiting else self.of(self._last)
        self._counters[tenant] = max(self.of(tenant), floor)

    def _rest(self) -> None:
        if not (self._waiting or self._running):
            self._counters.clear()


class _Charge:
    """What a lease was charged for, in tokens."""

    __slots__ = ("counters", "input", "output", "tenant")

    def __init__(self, counters: TokenCounters, tenant: str, uncached: float) -> None:
        self.counters = counters
        self.tenant = tenant
        self.input = uncached
        self.output = 0.0


class FairShare:
    """The counters of every model, and what each lease was charged."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self._weights = weights
        self._models: dict[str, TokenCounters] = {}
        self._charges: dict[int, _Charge] = {}

    def counters(self, model: str) -> TokenCounters:
        """Those of the model's tenants."""
        counters = self._models.get(model)
        if counters is None:
            counters = self._models[model] = TokenCounters(self._weights)
        return counters

    def configure(self, weights: Mapping[str, float]) -> None:
        """Charge by `weights` from now on."""
        self._weights = weights
        for counters in self._models.values():
            counters.weights = weights

    def begun(self, lease: int, model: str, tenant: str, uncached: float) -> None:
        """A lease began, of whose prompt so many tokens are to be computed."""
        counters = self.counters(model)
        counters.begun(tenant)
        counters.charge(tenant, service(uncached, 0.0))
        self._charges[lease] = _Charge(counters, tenant, uncached)

    def tokens(self, lease: int, count: int) -> None:
        """So many more tokens of the answer were seen."""
        charge = self._charges.get(lease)
        if charge is not None:
            charge.output += count
            charge.counters.charge(charge.tenant, service(0.0, count))

    def ended(self, lease: int, outcome: Outcome, before: int = 0) -> None:
        """A lease ended: what the engine said is what counts. A try of which nothing came is not the tenant's.

        `before` are the tokens of the same answer that other leases brought.
        """
        charge = self._charges.pop(lease, None)
        if charge is None:
            return
        owed = service(*_used(charge, outcome, before)) - service(charge.input, charge.output)
        charge.counters.charge(charge.tenant, owed)
        charge.counters.ended()

    def at_rest(self) -> bool:
        """Whether no lease is open and every counter is at zero."""
        return not self._charges and all(counters.at_rest() for counters in self._models.values())


def _used(charge: _Charge, outcome: Outcome, before: int) -> tuple[float, float]:
    """Input tokens computed and output tokens."""
    if outcome.verdict in FAILURES and not outcome.delivered:
        return 0.0, 0.0
    computed = charge.input
    if outcome.prompt_tokens and outcome.cached_tokens is not None:
        computed = float(max(0, outcome.prompt_tokens - outcome.cached_tokens))
    return computed, max(charge.output, float(outcome.completion_tokens - before), float(outcome.new_tokens))
