"""The brain's face to its driver: calls in, orders out.

Strategy: every call takes `now`, changes state at once and returns the orders that follow, for this request or for any
other. Nothing is decided elsewhere, so a simulator that drives this class decides as the gateway does, and a journal of
its calls replays to the same choices. A request is a ticket from `submit` until its client has an answer; each try on
a node is a lease. Whatever frees room pumps the waiting queue before the call returns.
"""

from collections.abc import Container, Sequence

import msgspec

from pointsman.brain.accounts import Accounts
from pointsman.brain.agenda import Agenda
from pointsman.brain.estimates import Estimates
from pointsman.brain.evacuation import Evacuation
from pointsman.brain.fleet import Fleet
from pointsman.brain.lease import Lease, Ticket
from pointsman.brain.life.feedback import FeedbackDesk
from pointsman.brain.life.resume import gave_way, was_emptied
from pointsman.brain.life.retry import RetryBudget
from pointsman.brain.lives import Lives
from pointsman.brain.manager import Manager
from pointsman.brain.membership import Membership
from pointsman.brain.model.commands import Obeyed
from pointsman.brain.model.errors import NotFound, PointsmanError
from pointsman.brain.model.facts import CacheReported, FedBack, PolicyChanged, Queued
from pointsman.brain.model.kv_events import CacheChange
from pointsman.brain.model.node import NodeSpec, NodeState
from pointsman.brain.model.orders import Order, Tell, Wait
from pointsman.brain.model.outcome import CANCELLED, Outcome, Verdict
from pointsman.brain.model.outside import Allocation, MemoryWish
from pointsman.brain.model.reports import ClientReport, NodeReport
from pointsman.brain.model.request import Request
from pointsman.brain.model.served import Served
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.model.sharing import PeerReport
from pointsman.brain.model.standing import Standing
from pointsman.brain.observers import Handlers, Observer, Observers
from pointsman.brain.outsiders import Outsiders
from pointsman.brain.peers import Peers, links_of
from pointsman.brain.placement import Placement
from pointsman.brain.policies.base import Policy
from pointsman.brain.policies.table import PolicyTable
from pointsman.brain.reserving import Reserving
from pointsman.brain.room.maker import Maker
from pointsman.brain.tries import Tries, began
from pointsman.brain.waiting import WaitingRoom
from pointsman.brain.warming import Warming

REFRESH_SECONDS = 0.1
"""How old time-dependent columns may get before a decision renews them."""

_FAIL, _BUSY = Verdict.FAIL, Verdict.BUSY  # Python looks up an enumeration's member in ten times the time of a name


class Dispatcher:
    """Places requests on nodes and accounts for them. Not thread-safe: one driver, one loop."""

    def __init__(
        self,
        settings: BrainSettings,
        policies: PolicyTable,
        observers: Sequence[Observer] = (),
        now: float = 0.0,
    ) -> None:
        self.settings = settings
        self.policies = policies
        self.fleet = Fleet()
        self._tell = Observers(observers)
        self._agenda = Agenda()
        self._out: list[Order] = []
        self.placement = Placement(settings, self.fleet, policies, self._tell, self._out)
        self.estimates = Estimates(settings, self.fleet)
        self._reserving = Reserving(settings, self.fleet, self.placement, self.estimates)
        self.peers = Peers(self.fleet)
        self.membership = Membership(
            settings, self.fleet, self.placement, self.estimates, self.peers, self._agenda, self._tell, self._out, now
        )
        self._retries = RetryBudget(settings)
        self._feedback = FeedbackDesk()
        self.accounts = Accounts(settings)
        self.lives = Lives(
            settings, self.fleet, self.placement, self.estimates, self.membership, self.accounts, self._retries,
            self.peers, self._agenda, self._tell, self._out, now,
        )  # fmt: skip
        tickets = self._tickets = self.lives.tickets
        leases = self._leases = self.lives.leases
        self._tries = Tries(self.fleet, self._retries, tickets, self._tell)
        self._evacuation = Evacuation(self.fleet, leases, tickets, self._retries, self._agenda, self._out)
        self.maker = Maker(settings, self.fleet, self.placement, leases, self._evacuation.ask, self._tell)
        self.waiting = WaitingRoom(
            settings, self.fleet, self.placement, self.accounts, self._agenda, tickets, self.lives.place,
            self.lives.refuse, self._out, self.maker,
        )  # fmt: skip
        warming = Warming(settings.cache, self.fleet, self.placement, self.peers, tickets, self._tell, self._out)
        self.manager = Manager(settings, self.placement, self.waiting, warming, self.maker, tickets, self._agenda)
        self.outsiders = Outsiders(settings.seed, self.fleet, self.placement, self._agenda)
        self._refreshed = now
        self._agenda.add(now + settings.recovery_sample_s, self._sample)

    def subscribe(self, handlers: Handlers) -> None:
        """Call these handlers, by kind of fact, with what happens from now on."""
        self._tell.add(handlers)

    # Requests

    def submit(self, request: Request, now: float) -> list[Order]:
        """A new request. The first order answers it (Start, Wait or Refuse) and carries its ticket.

        After a Wait, a Start for the same ticket may follow in the same list.
        """
        if self._refresh(now) and self.waiting.queues:
            self.waiting.pump_all(now)
        ticket = self.lives.submitted(request, now)
        refused = self.accounts.admit(ticket, now)
        if refused is None:
            self.placement.arrived(ticket, now)
        first = self.lives.refuse(ticket, refused, now) if refused else self._enter(ticket, now)
        return [first, *self._taken()] if self._out else [first]

    def cancel(self, ticket_id: int, now: float) -> list[Order]:
        """The client left, waiting or placed. Repeating is harmless."""
        ticket = self._tickets.get(ticket_id)
        if ticket is None:
            return []
        if ticket.lease is not None:
            return self.finished(ticket.lease.id, CANCELLED, now)
        self.waiting.leave(ticket)
        self.lives.close(ticket, now, "client_left", CANCELLED.status)
        return self._pumped((ticket.request.model,), now)

    def first_token(self, lease_id: int, now: float) -> list[Order]:
        """The first token of a stream, or the first byte of a plain answer, was seen."""
        lease = self._leases.get(lease_id)
        if lease is None or lease.first_at is not None:
            return []
        self.estimates.first_token(lease, now)
        lease.first_at = now
        self.placement.ledger.running(lease.booking, now)
        self.membership.first_token(lease.row, now)
        self._tell(began(lease, now))
        return self._pumped(self.fleet.models[lease.row], now)

    def tokens(self, lease_id: int, count: int, now: float) -> list[Order]:
        """`count` more tokens were seen since the last call."""
        lease = self._leases.get(lease_id)
        if lease is not None:
            lease.tokens += count
            self.accounts.tokens(lease, count)
            self.membership.progress(lease.row, now)
        return []

    def finished(self, lease_id: int, outcome: Outcome, now: float) -> list[Order]:
        """A lease ended. Repeating is harmless.

        A try that failed with nothing delivered, or whose rest can be asked of another node, may start again elsewhere,
        wait, or be refused: the order says so.
        """
        lease = self._leases.pop(lease_id, None)
        if lease is None:
            return []
        ticket = lease.ticket
        models = self.fleet.models[lease.row]
        again = self._tries.allows(ticket, lease, outcome)
        self.placement.release(lease, now)
        lease.end(outcome)
        self.accounts.ended(lease, outcome)
        failed = outcome.verdict is _FAIL
        if failed and lease.first_at is None:
            self.placement.unlearn(lease)
        elif outcome.cached_tokens is not None:
            self.placement.correct(lease, outcome.cached_tokens)
        if outcome.delivered and outcome.verdict is not _BUSY and not again:
            request, generation = ticket.request, self.fleet.generation[lease.row]
            self._feedback.remember(Served(request.tenant, request.id, lease.row, generation, failed, now))
        tpot = self.estimates.ended(lease, outcome, now)
        self.lives.tell_ended(lease, outcome, tpot, not again, now)
        self.membership.ended(lease.row, outcome, now)
        self._tries.interrupted(ticket, lease, outcome, again, now)
        orders = [self._again(ticket, lease, outcome, now)] if again else self.lives.over(ticket, outcome, now)
        return orders + self._pumped(models, now)

    # Nodes

    def add_node(self, spec: NodeSpec, now: float) -> list[Order]:
        """A new node; it joins with its first good probe. One that is being removed stays instead.

        Raises ValueError for a taken id.
        """
        self.membership.add(spec, now)
        return self._pumped_all(now)

    def declare_node(self, spec: NodeSpec, now: float) -> list[Order]:
        """There is a node as `spec` says from now on: a new one, or the one of that id changed.

        With another address it is another node, beside which the one before finishes what it has. Raises ValueError
        when the fleet is full.
        """
        self.membership.declare(spec, now)
        return self._pumped_all(now)

    def remove_node(self, node: str, now: float) -> list[Order]:
        """Drain the node and forget it once nothing runs there. Raises LookupError for an unknown id."""
        self.membership.remove(self._row(node), now)
        return self._pumped_all(now)

    def drain(self, node: str, now: float) -> list[Order]:
        """No new work for the node. Raises LookupError for an unknown id."""
        self.membership.drain(self._row(node), now)
        return self._taken()

    def drain_within(self, node: str, limit_s: float, now: float) -> list[Order]:
        """The same, and what still runs there after so many seconds goes elsewhere. Raises LookupError."""
        self._evacuation.empty_at(self._row(node), now + limit_s)
        return self.drain(node, now)

    def interrupt(self, lease_id: int, why: str, now: float) -> list[Order]:  # noqa: ARG002 - as all calls
        """Take a request off its node, to go on elsewhere, unless it was interrupted too often. May be repeated."""
        self._evacuation.interrupt(lease_id, why)
        return self._taken()

    def defragment(self, now: float) -> list[Order]:
        """Move streams to gather memory for those who wait and fit nowhere, whatever the settings say."""
        self.waiting.gather(now)
        return self._taken()

    def undrain(self, node: str, now: float) -> list[Order]:
        """The node takes work again. Raises LookupError for an unknown id."""
        self.membership.undrain(self._row(node), now)
        return self._pumped_all(now)

    def set_weight(self, node: str, weight: float, now: float) -> list[Order]:
        """Set the share of its concurrency the node may fill. Raises LookupError, ValueError."""
        self.membership.set_weight(self._row(node), weight, now)
        return self._pumped_all(now)

    def report(self, report: NodeReport, now: float) -> list[Order]:
        """A probe, scrape or heartbeat of a node.

        What a node that is down and fails its probe has not begun to answer is tried elsewhere; streams that can go on
        there are moved if nothing comes from it any more.
        """
        down = self.membership.report(report, now)
        if down is not None:
            self._evacuation.begin(down, now, silent=not self.membership.flows(down, report, now))
        return self._pumped_all(now)

    def kv_event(self, change: CacheChange, now: float) -> list[Order]:
        """A node told how its cache changed. Passed over for one that is unknown, or not known by what it tells."""
        row = self.fleet.row_of.get(change.node)
        if row is not None and self.placement.reported(row, change, now):
            self._tell(CacheReported(now, change))
        return self._taken()

    def feedback(self, report: ClientReport, now: float) -> list[Order]:
        """A client's word on an answer; that it was bad counts as a failure of the node, unless that has moved on.

        Raises NotFound for a request that is unknown or too long ago, Conflict for a second word on one, and
        TooManyRequests; then nothing has changed. Other gateways, if there are any, are told of what is unknown here.
        """
        try:
            self._fed_back(report, self._feedback.take(report, now), now)
        except NotFound:
            if not self.peers.any:
                raise
            if not report.good:
                self._feedback.pay(report.tenant, now)
            self.peers.fed_back(report)
        return self._pumped_all(now)

    def _fed_back(self, report: ClientReport, served: Served, now: float) -> None:
        node = self.membership.node_of(served.row, served.generation)
        counted = node is not None and not report.good and not served.failed
        counted = counted and self.membership.complaint(served.row, served.ended, now)
        self._tell(FedBack(now, node or "", report, counted))

    def warm(self, request: Request, nodes: Sequence[str], now: float) -> list[Order]:
        """Send the prompt of `request` to `nodes`, or to all that lack it. Raises BadRequest, NotFound."""
        orders: list[Order] = []
        orders += self.manager.warming.ask(request, self.estimates.size(request)[1], nodes, now)
        return orders + self._taken()

    def warmed(self, warm: int, ok: bool, now: float) -> list[Order]:
        """A warm-up that was ordered ended, `ok` if the node computed it. Repeating is harmless."""
        row = self.manager.warming.ended(warm, ok, now)
        if row is None:
            return []
        models = self.fleet.models[row]
        self.membership.settle(row, now)
        return self._pumped(models, now)

    def pin(self, request: Request, nodes: Sequence[str], now: float) -> list[Order]:  # noqa: ARG002 - as all calls
        """Have `nodes`, or all that obey, keep what they hold of the prompt. Raises BadRequest, NotFound, Conflict."""
        self.placement.pinning.ask(request, nodes, self.estimates.size(request)[1])
        return self._taken()

    def unpin(self, request: Request, nodes: Sequence[str], now: float) -> list[Order]:
        """Let them evict again what of the prompt is pinned. Raises BadRequest, NotFound, Conflict."""
        self.placement.pinning.end(request, nodes, self.estimates.size(request)[1])
        return self._pumped_all(now)

    def obeyed(self, report: Obeyed, now: float) -> list[Order]:
        """An instruction to a node that obeys ended. Repeating is harmless."""
        if self.placement.commanding.obeyed(report, now):
            leaving = self.placement.swapping.obeyed(report, self._leases)
            if leaving is not None:
                self._evacuation.ask(leaving.lease, leaving.cause)
        return self._taken()

    # Memory for requests that others serve

    def allocate(self, wish: MemoryWish, now: float) -> Allocation:
        """Hold memory under a lease that ends by itself. Raises ModelNotFound, NotFound, NoMemory."""
        return self.outsiders.allocate(wish, now)

    def renew(self, lease: str, ttl_s: float, now: float) -> Allocation:
        """Let such a lease end in `ttl_s` seconds instead. Raises NotFound, Conflict."""
        return self.outsiders.renew(lease, ttl_s, now)

    def release(self, lease: str, now: float) -> list[Order]:
        """End such a lease. Raises NotFound, and Conflict for one that has ended: then nothing has changed."""
        return self._pumped(self.outsiders.release(lease), now)

    # Other gateways before the same nodes

    def share(self, now: float) -> list[Order]:
        """Tell the others what changed here since the last share: one Tell, or nothing."""
        self._refresh(now)
        waiting = {model for model, *_ in self.waiting.queues if len(self.fleet.candidates(model)[0])}
        share = self.peers.share(waiting)
        return [Tell(share)] if share else []

    def hear(self, report: PeerReport, now: float) -> list[Order]:
        """What the others have booked, and the prompts they sent: counted and believed as if they were ours."""
        self.peers.hear(report)
        for sent in report.sent:
            row = self.fleet.row_of.get(sent.node)
            if row is not None:
                self.placement.learn(row, links_of(sent), sent.tokens_per_link)
        for word in report.feedback:
            served = self._feedback.take_paid(word, now)
            if served is not None:
                self._fed_back(word, served, now)
        self.membership.settle_all(now)
        return self._pumped_all(now)

    # Policies and settings

    def configure(self, settings: BrainSettings, now: float) -> list[Order]:
        """Decide by `settings` from now on, all but the seed. What waits or runs keeps the limits it began with."""
        self.settings = settings = msgspec.structs.replace(settings, seed=self.settings.seed)
        estimating = (self.placement, self.estimates, self.membership)
        self.accounts.configure(settings, now)
        for part in (*estimating, self._retries, self.lives, self.waiting, self.maker):
            part.configure(settings)
        self.manager.configure(settings)
        self._reserving.configure(settings)
        return self._pumped_all(now)

    def set_policy(self, scope: str, policy: Policy | None, now: float) -> list[Order]:
        """Let `policy` decide for `scope` from now on; None drops the scope. Raises ValueError for a bad scope."""
        self.policies.put(scope, policy)
        self._tell(PolicyChanged(now, scope, policy.name if policy else ""))
        return self._pumped_all(now)

    # Time

    def tick(self, now: float) -> list[Order]:
        """Do what is due. To be called at `next_deadline`, and harmless at any other time."""
        settled = self._refresh(now)
        for action, argument in self._agenda.due(now):
            action(argument, now)
        if settled and self.waiting.queues:
            self.waiting.pump_all(now)
        return self._taken()

    def next_deadline(self) -> float | None:
        """When `tick` has something to do next (seconds, on the caller's clock).

        A prefill that ends makes room only for those who wait: without any, nobody need be woken for it.
        """
        due = self._agenda.next_due()
        return min(due, self.placement.ledger.next_end) if due is not None and self.waiting.queues else due

    # Questions

    def knows(self, model: str) -> bool:
        """Whether some node, healthy or not, serves `model`."""
        return model in self.fleet.served()

    def models(self) -> list[str]:
        """Every model some node serves, sorted."""
        return sorted(self.fleet.served())

    def available(self, model: str | None = None) -> int:
        """Nodes that may be given work now, for one model or all; of nodes that are down nothing is expected."""
        names = self.models() if model is None else [model]
        rows = {row for name in names for row in self.fleet.candidates(name)[0].tolist()}
        return sum(self.fleet.states[row] is not NodeState.DOWN for row in rows)

    def standing(self) -> str:
        """How many nodes are in which state, for people: "2 down, 1 draining", or "none"."""
        return self.fleet.standing()

    def queued(self) -> dict[str, int]:
        """Tickets that wait, for each model that is served or waited for."""
        return dict.fromkeys(self.models(), 0) | self.waiting.lengths()

    def waits(self, ticket_id: int, at: float) -> Standing | None:
        """Where a ticket stands that waits `at` this time; None for one that is placed or over. Changes nothing."""
        ticket = self._tickets.get(ticket_id)
        if ticket is None or ticket.lease is not None:
            return None
        position = self.waiting.position(ticket)
        return Standing(position, self.waiting.expected(ticket, position, at))

    def tickets(self) -> list[Ticket]:
        """Every open ticket, waiting or placed, oldest first; they are not to be changed."""
        return list(self._tickets.values())

    def at_rest(self) -> bool:
        """Whether no ticket or lease is open."""
        return not self._tickets and not self._leases and not self.manager.warming.open

    # Inside

    def _enter(self, ticket: Ticket, now: float, *, gave_way: bool = False) -> Order:
        """Place the ticket, or let it wait behind those who wait already, or refuse it."""
        if not (self.waiting.queues and self.waiting.anyone_before(ticket)):
            answer = self.lives.place(ticket, now)
            if answer is not None:
                return answer
        position = self.waiting.join(ticket, now, gave_way=gave_way)
        if isinstance(position, PointsmanError):
            return self.lives.refuse(ticket, position, now)
        expected_s = self.waiting.expected(ticket, position, now)
        self._tell(Queued(now, ticket.id, ticket.request, position, expected_s))
        if self.waiting.may_go(ticket, position):
            self.waiting.pump((ticket.request.model,), now)
        else:
            self.waiting.make_room(ticket, now)
        return Wait(ticket.id, position)

    def _again(self, ticket: Ticket, lease: Lease, outcome: Outcome, now: float) -> Order:
        self._tries.again(ticket, lease, outcome, now)
        self._refresh(now)
        made_room = gave_way(outcome)
        if made_room:
            self.waiting.redeem(now)
        elsewhere = self.lives.place_elsewhere(ticket, lease.node, now) if was_emptied(outcome) else None
        return elsewhere or self._enter(ticket, now, gave_way=made_room)

    def _pumped(self, models: Container[str], now: float) -> list[Order]:
        """What the room freed for `models` allows, and whatever else is to be told."""
        if self.waiting.queues:
            if self._refresh(now):
                self.waiting.pump_all(now)
            else:
                self.waiting.pump(models, now)
        return self._taken()

    def _pumped_all(self, now: float) -> list[Order]:
        self._refresh(now)
        self.waiting.pump_all(now)
        return self._taken()

    # Timed

    def _sample(self, _: None, now: float) -> None:
        self.estimates.sample(now)
        self._agenda.add(now + self.settings.recovery_sample_s, self._sample)

    def _refresh(self, now: float) -> bool:
        """Renew what changes with time alone, to be read at `now`; whether a prefill was found to be over."""
        if now - self._refreshed >= REFRESH_SECONDS:
            self._refreshed = now
            self.placement.ledger.refresh(now)
            self.estimates.refresh(now)
            self.membership.refresh(now)
            if self._reserving.on:
                self._reserving.renew(self._leases.values(), now)
        ledger = self.placement.ledger
        if ledger.next_end > now:
            return False
        ledger.settle(now)
        return True

    def _taken(self) -> list[Order]:
        if not self._out:
            return []
        orders = self._out[:]
        self._out.clear()
        return orders

    def _row(self, node: str) -> int:
        row = self.fleet.row_of.get(node)
        if row is None:
            raise LookupError(f"no node {node!r}; there are: {', '.join(sorted(self.fleet.row_of)) or 'none'}")
        return row
