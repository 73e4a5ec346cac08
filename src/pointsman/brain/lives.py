"""The requests that are open: a ticket from its arrival until its client has an answer, a lease for each try on a node.

What begins here ends here: whoever opens a ticket closes it, whatever became of it in between.
"""

from pointsman.brain.accounts import Accounts
from pointsman.brain.agenda import Agenda
from pointsman.brain.estimates import Estimates
from pointsman.brain.fleet import Fleet
from pointsman.brain.lease import Lease, Ticket
from pointsman.brain.life.retry import RetryBudget
from pointsman.brain.membership import Membership
from pointsman.brain.model.choice import Choice
from pointsman.brain.model.errors import PointsmanError, PolicyFailed
from pointsman.brain.model.facts import Ended, Placed, Refused
from pointsman.brain.model.orders import Abort, Order, Refuse, Start
from pointsman.brain.model.outcome import UNSERVED, Outcome
from pointsman.brain.model.request import Request
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.observers import Observers
from pointsman.brain.peers import Peers
from pointsman.brain.placement import Placement
from pointsman.brain.tries import upstream_error

PATIENCE_FACTOR = 4.0
"""A first token may take this many times its prediction."""
LEASE_CHECK_SECONDS = 60.0


class Lives:
    """Open tickets and leases, each by id and in the order they began. Puts aborts of what lasts too long in `out`."""

    def __init__(
        self,
        settings: BrainSettings,
        fleet: Fleet,
        placement: Placement,
        estimates: Estimates,
        membership: Membership,
        accounts: Accounts,
        retries: RetryBudget,
        peers: Peers,
        agenda: Agenda,
        tell: Observers,
        out: list[Order],
        now: float,
    ) -> None:
        self._settings = settings
        self._fleet = fleet
        self._placement = placement
        self._estimates = estimates
        self._membership = membership
        self._accounts = accounts
        self._retries = retries
        self._peers = peers
        self._agenda = agenda
        self._tell = tell
        self._out = out
        self.tickets: dict[int, Ticket] = {}
        self.leases: dict[int, Lease] = {}
        self._last_ticket = 0
        self._last_lease = 0
        agenda.add(now + LEASE_CHECK_SECONDS, self._check_leases)

    def configure(self, settings: BrainSettings) -> None:
        """Go by `settings` from now on; what runs keeps the patience it began with."""
        self._settings = settings

    def submitted(self, request: Request, now: float) -> Ticket:
        """A new request's ticket."""
        prompt, per_link = self._estimates.size(request)
        output = self._estimates.output(request)
        self._last_ticket += 1
        reserve = self._estimates.reserve(request, output)
        ticket = Ticket(self._last_ticket, request, prompt, output, reserve, per_link, now)
        self.tickets[ticket.id] = ticket
        return ticket

    def place(self, ticket: Ticket, now: float) -> Start | Refuse | None:
        """Start the ticket, or refuse it where its policy raises: other tickets' calls must not suffer from that.

        None if no node can take it, or its policy would have it wait.
        """
        view = self._placement.view(ticket, now)
        if view is None:
            return None
        try:
            answer = self._placement.decide(ticket, view, now)
        except PolicyFailed as error:
            return self.refuse(ticket, error, now)
        if not isinstance(answer, Choice):
            return None
        self._last_lease += 1
        lease = self._placement.book(ticket, view, answer, self._last_lease, now)
        self._accounts.begun(lease)
        self._begin(ticket, lease, answer.reason, now)
        patience = self._patience(lease.expected_s)
        if self._membership.on_probation(lease.row):
            whole = 0.0 if ticket.request.stream else ticket.output_tokens * float(view.tpot_base[answer.index])
            self._agenda.add(now + self._patience(lease.expected_s + whole), self._probation_over, lease.id)
        return Start(ticket.id, lease.id, self._fleet.spec(lease.row), ticket.attempts, patience)

    def place_elsewhere(self, ticket: Ticket, node: str, now: float) -> Start | Refuse | None:
        """The same, but not on `node`, which may have it again later."""
        excluded = ticket.excluded
        ticket.excluded = tuple(sorted({*excluded, node}))
        answer = self.place(ticket, now)
        ticket.excluded = excluded
        return answer

    def tell_ended(self, lease: Lease, outcome: Outcome, tpot: float | None, final: bool, now: float) -> None:
        """Tell observers how a lease ended, and whether its ticket did (`final`)."""
        ticket = lease.ticket
        if not self._tell.want(Ended):
            return
        self._tell(
            Ended(
                now, ticket.id, lease.id, ticket.request, lease.node, outcome,
                now - lease.started, now - ticket.submitted, tpot, lease.overlap_tokens, final, lease.seen,
            )
        )  # fmt: skip

    def over(self, ticket: Ticket, outcome: Outcome, now: float) -> list[Order]:
        """The ticket's last try ended by `outcome`: close it, with a refusal if its client has no answer yet."""
        if not outcome.delivered and outcome.verdict in UNSERVED:
            return [self.refuse(ticket, upstream_error(outcome), now)]
        self._forget(ticket, now)
        return []

    def refuse(self, ticket: Ticket, error: PointsmanError, now: float) -> Refuse:
        """Close the ticket with `error`."""
        self.close(ticket, now, error.code, error.status)
        return Refuse(ticket.id, error)

    def close(self, ticket: Ticket, now: float, code: str, status: int) -> None:
        """Close a ticket that no node answered, and tell observers why."""
        self._forget(ticket, now)
        self._tell(Refused(now, ticket.id, ticket.request, code, status))

    def _begin(self, ticket: Ticket, lease: Lease, reason: str, now: float) -> None:
        ticket.lease = lease
        ticket.attempts += 1
        self.leases[lease.id] = lease
        self._placement.remember(lease)
        self._estimates.sent(lease)
        chain = ticket.request.chain
        if chain is not None and chain.links and self._peers.any:
            self._peers.sent(lease.node, chain.links, ticket.tokens_per_link)
        if not ticket.request.stream:
            self._placement.ledger.expect(lease.booking, now + lease.expected_s)
        self._tell(
            Placed(
                now, ticket.id, lease.id, ticket.request, lease.node, ticket.attempts, now - ticket.submitted,
                ticket.prompt_tokens, lease.overlap_tokens, reason,
            )
        )  # fmt: skip

    def _patience(self, expected: float) -> float:
        """How long (seconds) what was predicted to take `expected` may take."""
        settings = self._settings
        return min(settings.first_token_ceiling_s, max(settings.first_token_floor_s, PATIENCE_FACTOR * expected))

    def _forget(self, ticket: Ticket, now: float) -> None:
        del self.tickets[ticket.id]
        self._accounts.over(ticket, now)
        if self._placement.swapping.swapped:
            self._placement.swapping.over(ticket.id)
        if ticket.retrying:
            self._retries.done()

    def _probation_over(self, lease_id: int, now: float) -> None:  # noqa: ARG002 - called by the agenda
        """A node on trial has its own time for its one request: else one that hangs would stay on trial for hours."""
        lease = self.leases.get(lease_id)
        if lease is not None and lease.first_at is None and self._membership.on_probation(lease.row):
            self._out.append(Abort(lease.id, "trial_timeout"))

    def _check_leases(self, _: None, now: float) -> None:
        """Leases are kept in the order they began: look from the oldest until one is young."""
        for lease in self.leases.values():
            if now - lease.started < self._settings.lease_s:
                break
            self._out.append(Abort(lease.id, "lease_expired"))
        self._agenda.add(now + LEASE_CHECK_SECONDS, self._check_leases)
