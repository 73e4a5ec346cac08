"""Whose requests these are: what each tenant is charged, by fair share and by quota, as its requests come and go."""

from collections.abc import Mapping

from pointsman.brain.admission.fairness import FairShare
from pointsman.brain.admission.quota import Quotas
from pointsman.brain.lease import Lease, Ticket
from pointsman.brain.model.errors import PointsmanError
from pointsman.brain.model.outcome import UNSERVED, Outcome
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.model.tenant import Tenant


class Accounts:
    """`fair` is there under the order of that name only. Costs next to nothing where neither it nor a quota is."""

    def __init__(self, settings: BrainSettings) -> None:
        self.fair = FairShare(_weights(settings.tenants)) if settings.order == "fair" else None
        self._quotas = Quotas(settings.tenants)
        self._used: dict[int, float] = {}

    def configure(self, settings: BrainSettings, now: float) -> None:
        """Go by `settings` from now on; what was charged stays."""
        self._quotas.configure(settings.tenants, now)
        if settings.order != "fair":
            self.fair = None
        elif self.fair is None:
            self.fair = FairShare(_weights(settings.tenants))
        else:
            self.fair.configure(_weights(settings.tenants))

    def admit(self, ticket: Ticket, now: float) -> PointsmanError | None:
        """Charge a new request to its tenant's quotas, or say which of them is used up."""
        if not self._quotas.any:
            return None
        tokens = float(ticket.prompt_tokens + ticket.output_tokens)
        return self._quotas.admit(ticket.id, ticket.request.tenant, tokens, now)

    def begun(self, lease: Lease) -> None:
        """A lease began: its tenant is charged for what is to be computed of its prompt."""
        if self.fair is not None:
            ticket = lease.ticket
            uncached = ticket.prompt_tokens - lease.overlap_tokens
            self.fair.begun(lease.id, ticket.request.model, ticket.request.tenant, uncached)

    def tokens(self, lease: Lease, count: int) -> None:
        """So many more tokens of a lease's answer were seen."""
        if self.fair is not None:
            self.fair.tokens(lease.id, count)

    def ended(self, lease: Lease, outcome: Outcome) -> None:
        """A lease ended: its tenant is charged for what it was, for nothing where nothing came of it.

        The engine's own count is what counts; where it told none, what was seen to come.
        """
        if self.fair is not None:
            self.fair.ended(lease.id, outcome, lease.ticket.delivered_tokens)
        ticket = lease.ticket
        if self._quotas.charged(ticket.id) and (outcome.delivered or outcome.verdict not in UNSERVED):
            prompt = outcome.prompt_tokens or ticket.prompt_tokens - ticket.delivered_tokens
            counted = outcome.prompt_tokens or outcome.completion_tokens
            self._used[ticket.id] = float(prompt + (outcome.completion_tokens if counted else lease.seen))

    def over(self, ticket: Ticket, now: float) -> None:
        """A request is over, however it ended."""
        if self._quotas.charged(ticket.id):
            self._quotas.over(ticket.id, self._used.pop(ticket.id, None), now)

    def at_rest(self) -> bool:
        """Whether no request is open and no counter above zero."""
        return self._quotas.at_rest() and not self._used and (self.fair is None or self.fair.at_rest())


def _weights(tenants: tuple[Tenant, ...]) -> Mapping[str, float]:
    return {tenant.name: tenant.weight for tenant in tenants}
