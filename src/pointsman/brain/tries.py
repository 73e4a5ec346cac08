"""Whether a request that lost its node is given another, and what it takes along.

Two ways lead to another node. A retry sends again what failed with nothing delivered, within the budget for retries. A
resumption asks for the rest of an answer that was interrupted: what was delivered counts as prompt from then on.
"""

from collections.abc import Sized

from pointsman.brain.fleet import Fleet
from pointsman.brain.lease import Lease, Ticket
from pointsman.brain.life.resume import gave_way, goes_on, interrupts
from pointsman.brain.life.retry import RetryBudget
from pointsman.brain.model.errors import NodeFailed, NodeTimeout, PointsmanError
from pointsman.brain.model.facts import FirstToken, Interrupted, Resumed
from pointsman.brain.model.node import NodeState
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.brain.observers import Observers


class Tries:
    """Judges endings. `tickets` are those open."""

    def __init__(self, fleet: Fleet, budget: RetryBudget, tickets: Sized, tell: Observers) -> None:
        self._fleet = fleet
        self._budget = budget
        self._tickets = tickets
        self._tell = tell

    def allows(self, ticket: Ticket, lease: Lease, outcome: Outcome) -> bool:
        """Whether `ticket`, whose `lease` ended by `outcome`, goes to another node, be it one to wait for."""
        if interrupts(outcome):
            again = goes_on(outcome, ticket.interruptions if gave_way(outcome) else ticket.losses)
        else:
            again = self._budget.allows(outcome, ticket.attempts, len(self._tickets))
        return again and self._elsewhere(ticket, lease, outcome)

    def interrupted(self, ticket: Ticket, lease: Lease, outcome: Outcome, again: bool, now: float) -> None:
        """Tell of an interruption, if `outcome` is one."""
        if interrupts(outcome):
            tokens = ticket.delivered_tokens + outcome.new_tokens
            cause = outcome.reason
            self._tell(Interrupted(now, ticket.id, lease.id, ticket.request, lease.node, cause, tokens, again))

    def again(self, ticket: Ticket, lease: Lease, outcome: Outcome, now: float) -> None:
        """Make `ticket` ready for another node, in the budget or with what was delivered."""
        if interrupts(outcome):
            ticket.interruptions += 1
            ticket.losses += not gave_way(outcome)
            ticket.delivered_tokens += outcome.new_tokens
            ticket.prompt_tokens += outcome.new_tokens
            ticket.output_tokens = max(1, ticket.output_tokens - outcome.new_tokens)
            ticket.reserve_tokens = max(1, ticket.reserve_tokens - outcome.new_tokens)
        elif not (outcome.free or ticket.retrying):
            ticket.retrying = True
            self._budget.taken()
        if not gave_way(outcome):
            ticket.excluded = tuple(sorted({*ticket.excluded, lease.node}))
        ticket.failed_at = now

    def _elsewhere(self, ticket: Ticket, lease: Lease, outcome: Outcome) -> bool:
        """Whether some node is left that has not failed this ticket, be it one to wait for.

        Back-pressure is not waited out here: its client is told at once unless another node is in use.
        """
        tried = {*ticket.excluded} if gave_way(outcome) else {*ticket.excluded, lease.node}
        fleet, model = self._fleet, ticket.request.model
        busy = outcome.verdict is Verdict.BUSY
        rows = fleet.candidates(model)[0].tolist() if busy else fleet.serves(model)
        left = (row for row in rows if fleet.spec(row).name not in tried)
        return any(fleet.states[row] is not NodeState.DRAINING for row in left)


def upstream_error(outcome: Outcome) -> PointsmanError:
    """What the client is told of a request that no node answered, the last one ending by `outcome`."""
    if outcome.reason.endswith("timeout"):
        return NodeTimeout(f"the node did not answer in time ({outcome.reason})")
    return NodeFailed(f"the node failed before it answered ({outcome.reason})")


def began(lease: Lease, now: float) -> FirstToken | Resumed:
    """A first token came: of an answer, or of the rest of one."""
    ticket = lease.ticket
    if ticket.delivered_tokens:
        gap = now - ticket.failed_at
        return Resumed(now, ticket.id, lease.id, ticket.request, lease.node, ticket.delivered_tokens, gap)
    return FirstToken(now, ticket.id, lease.id, ticket.request, lease.node, now - ticket.submitted)
