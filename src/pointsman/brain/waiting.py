"""Who waits, for how long, and who goes next when room appears.

Requests that could go to the same nodes wait in one queue: one per model, one more for each set of nodes that some
have failed on, others for long prompts where these are kept apart, and for tenants whose memory is capped. So a head
that cannot go never holds up others who could. A pump serves the queues of several models by the age of their oldest,
since models may share nodes, until no policy places anything more: a policy that binds late says which of a queue's
window goes next, every other gets the head; both are by the order of the settings. While anything waits, the agenda
pumps at short intervals too, since estimates change with time alone.
"""

from collections.abc import Callable, Container, Iterator, Mapping

from pointsman.brain.accounts import Accounts
from pointsman.brain.admission.fairness import service
from pointsman.brain.admission.order import Waiter, order_of
from pointsman.brain.admission.pace import Pace
from pointsman.brain.admission.queue import Queue
from pointsman.brain.agenda import Agenda
from pointsman.brain.fleet import Fleet
from pointsman.brain.lease import Ticket
from pointsman.brain.life.resume import DEFRAGMENTED
from pointsman.brain.model.errors import NoNode, PointsmanError, QueueFull, QueueTimeout, TooLate
from pointsman.brain.model.orders import Order, Refuse, Start
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.placement import Placement
from pointsman.brain.policies.base import Policy
from pointsman.brain.room.maker import Maker
from pointsman.brain.room.plan import Plan

PUMP_SECONDS = 0.05
"""How often waiting tickets are looked at when nothing else moves."""

_ARRANGING = ("order", "fair_locality_tokens", "long_context_tokens", "tenants")
"""The settings that say who waits where."""

Key = tuple[str, tuple[str, ...], bool, str]
"""A queue's model, the ids of the nodes that its tickets have failed on, whether their prompts count as long, and whose
they are, where a tenant's share of KV memory is capped."""


class WaitingRoom:
    """The queues that are not empty. `place` starts a ticket, or ends it, or returns None; `refuse` ends one."""

    def __init__(
        self,
        settings: BrainSettings,
        fleet: Fleet,
        placement: Placement,
        accounts: Accounts,
        agenda: Agenda,
        tickets: Mapping[int, Ticket],
        place: Callable[[Ticket, float], Start | Refuse | None],
        refuse: Callable[[Ticket, PointsmanError, float], Order],
        out: list[Order],
        maker: Maker,
    ) -> None:
        self._settings = settings
        self._fleet = fleet
        self._placement = placement
        self._accounts = accounts
        self._agenda = agenda
        self._tickets = tickets
        self._place = place
        self._refuse = refuse
        self._out = out
        self._maker = maker
        self.queues: dict[Key, Queue] = {}
        self._paces: dict[tuple[str, bool, str], Pace] = {}
        self._pump_due = False
        self._patient: set[int] = set()

    def configure(self, settings: BrainSettings) -> None:
        """Go by `settings` from now on; who waits already keeps the time he was given."""
        before, self._settings = self._settings, settings
        if any(getattr(before, name) != getattr(settings, name) for name in _ARRANGING):
            self._reorder()

    def anyone_before(self, ticket: Ticket) -> bool:
        """Whether others already wait where `ticket` would, and it has no memory of its own that is kept ready."""
        return self._key(ticket) in self.queues and not self._placement.keeps_for(ticket)

    def join(self, ticket: Ticket, now: float, *, gave_way: bool = False) -> int | PointsmanError:
        """Wait at the end: the position (1 = next), or the error that the queue is full.

        One that gave way to another waits as long as it takes, and beside as many as there are.
        """
        key, waiter = self._key(ticket), self._waiter(ticket)
        queue = self.queues.get(key) or self._queue(key[0])
        waiting = self.lengths().get(key[0], 0) if key[3] else len(queue)  # many capped tenants have one bound
        full = waiting >= self._settings.queue_limit and not gave_way
        other = queue.gives_way(waiter) if full else None
        if full and (other is None or other in self._patient):
            return self._full(key[0])
        was_empty = not queue
        position = queue.join(waiter)
        too_late = self._too_late_already(ticket, position, now)
        if too_late is not None:
            queue.leave(ticket.id)
            return too_late
        if was_empty:
            self._pace(key).begins(now)
        if other is not None:
            queue.leave(other)
            self._maker.claims.drop(other)
            self._out.append(self._refuse(self._tickets[other], self._full(key[0]), now))
        self.queues[key] = queue
        if gave_way:
            self._patient.add(ticket.id)
        else:
            self._agenda.add(now + self._settings.queue_timeout_s, self._time_out, (ticket.id, ticket.attempts))
        self._schedule_pump(now)
        return position if other is None else queue.position(ticket.id)

    def expected(self, ticket: Ticket, position: int, now: float) -> float | None:
        """Seconds from `now` that one at `position` of the ticket's queue waits, None if its pace is unknown."""
        return self._pace(self._key(ticket)).expect(position, now)

    def lengths(self) -> dict[str, int]:
        """Tickets that wait, by model."""
        waiting: dict[str, int] = {}
        for (model, *_), queue in self.queues.items():
            waiting[model] = waiting.get(model, 0) + len(queue)
        return waiting

    def may_go(self, ticket: Ticket, position: int) -> bool:
        """Whether one that has just joined at `position` may be placed although others wait, who could not be."""
        if position > 1:
            return self._placement.policy(ticket).binds_late
        return len(self.queues[self._key(ticket)]) > 1

    def position(self, ticket: Ticket) -> int:
        """Where a ticket that waits stands now: 1 = next."""
        return self.queues[self._key(ticket)].position(ticket.id)

    def leave(self, ticket: Ticket) -> bool:
        """Leave without being placed; false if the ticket did not wait."""
        key = self._key(ticket)
        queue = self.queues.get(key)
        left = queue is not None and queue.leave(ticket.id)
        if not queue:
            self.queues.pop(key, None)
        self._waits_no_more(ticket.id)
        return left

    def pump(self, models: Container[str], now: float) -> None:
        """Start waiting tickets of `models` as long as their policies place them, the oldest head first."""
        if self._maker.claims:
            self.redeem(now)
        offered = {key: queue for key, queue in self.queues.items() if key[0] in models}
        while offered:
            key = min(offered, key=lambda key: offered[key].oldest)
            queue = offered[key]
            answer = self._place_one(queue, now)
            if answer is not None:
                self._go(key, queue, answer, now)
            elif self._maker.on:
                self._maker.for_one_of([self._tickets[each] for each in queue.window(self._settings.window)], now)
            if answer is None or not queue:
                del offered[key]

    def redeem(self, now: float) -> None:
        """Place those for whom room was made, where it has come: they go before all others."""
        claims = self._maker.claims
        claims.expire(now)
        for ticket in claims:
            self._maker.redeem(self._tickets[ticket], now, self._place_waiting)

    def gathering(self, now: float) -> Iterator[tuple[Ticket, Plan]]:
        """For the most urgent of each queue, which streams would be moved to gather memory for it, if any."""
        for queue in list(self.queues.values()):
            ticket = self._maker.first([self._tickets[each] for each in queue.window(self._settings.window)])
            plan = None if ticket is None else self._maker.gatherer.plan(ticket, now)
            if ticket is not None and plan is not None:
                yield ticket, plan

    def gather(self, now: float) -> None:
        """Move them."""
        for ticket, plan in self.gathering(now):
            self._maker.carry_out(plan, ticket, DEFRAGMENTED, now)

    def make_room(self, ticket: Ticket, now: float) -> None:
        """Make room for whoever of the ticket's queue is most urgent, where that is wanted."""
        if self._maker.on:
            queue = self.queues[self._key(ticket)]
            self._maker.for_one_of([self._tickets[each] for each in queue.window(self._settings.window)], now)

    def pump_all(self, now: float) -> None:
        """Pump every model."""
        self.pump({key[0] for key in self.queues}, now)

    def _place_waiting(self, ticket: Ticket, now: float) -> Start | Refuse | None:
        """Start one ticket, whatever its position."""
        answer = self._place(ticket, now)
        if answer is not None:
            key = self._key(ticket)
            self._go(key, self.queues[key], answer, now)
        return answer

    def _go(self, key: Key, queue: Queue, answer: Start | Refuse, now: float) -> None:
        """A ticket of `queue` has its answer."""
        queue.take(answer.ticket)
        self._waits_no_more(answer.ticket)
        self._pace(key).placed(now, left=bool(queue))
        self._out.append(answer)
        if not queue:
            del self.queues[key]

    def _waits_no_more(self, ticket: int) -> None:
        self._patient.discard(ticket)
        if self._maker.claims:
            self._maker.claims.drop(ticket)

    def _place_one(self, queue: Queue, now: float) -> Start | Refuse | None:
        ticket = self._tickets[queue.head]
        policy = self._placement.policy(ticket)
        if policy.binds_late and len(queue) > 1:
            ticket = self._picked(policy, queue.window(self._settings.window), now)
        return self._place(ticket, now)

    def _picked(self, policy: Policy, window: list[int], now: float) -> Ticket:
        """The waiting ticket that a late-binding policy wants to go next; the head if no node is there or it fails."""
        tickets = [self._tickets[ticket] for ticket in window]
        views = [view for ticket in tickets if (view := self._placement.view(ticket, now)) is not None]
        if not views:
            return tickets[0]
        try:
            return tickets[policy.pick([ticket.request for ticket in tickets], views)]
        except Exception as error:
            self._placement.tell_raised(policy, "pick", tickets[0].request, error, now)
            return tickets[0]

    def _key(self, ticket: Ticket) -> Key:
        request, placement = ticket.request, self._placement
        whose = request.tenant if placement.shares.caps(request.tenant) else ""
        return request.model, ticket.excluded, placement.isolation.long(ticket.prompt_tokens), whose

    def _pace(self, key: Key) -> Pace:
        """Of the queue of a model's long or other prompts, or a capped tenant's, whatever nodes they have failed on."""
        lane = key[0], key[2], key[3]
        pace = self._paces.get(lane)
        if pace is None:
            pace = self._paces[lane] = Pace()
        return pace

    def _too_late_already(self, ticket: Ticket, position: int, now: float) -> PointsmanError | None:
        """The refusal of one whose first token would come after its own deadline, if it has one."""
        wish, expected = ticket.request.ttft_slo_s, self.expected(ticket, position, now)
        if wish is None or expected is None or ticket.delivered_tokens or now + expected <= ticket.submitted + wish:
            return None
        told = f"a place for model {ticket.request.model!r} takes about {expected:.3g} s now, more than the {wish:g} s"
        return TooLate(f"{told} within which the first token was wanted; try again later", retry_after_s=expected)

    def _queue(self, model: str) -> Queue:
        settings = self._settings
        fair = self._accounts.fair
        counters = None if fair is None else fair.counters(model)
        order = order_of(settings.order, counters, settings.fair_locality_tokens)
        return Queue(order, settings.overtake_limit, settings.overtake_service)

    def _waiter(self, ticket: Ticket) -> Waiter:
        request, tokens = ticket.request, ticket.prompt_tokens + ticket.output_tokens
        patience = self._settings.queue_timeout_s if request.ttft_slo_s is None else request.ttft_slo_s
        served = service(ticket.prompt_tokens, ticket.output_tokens)
        deadline = ticket.submitted + patience
        return Waiter(ticket.id, request.tenant, request.priority, deadline, float(tokens), served)

    def _reorder(self) -> None:
        """Who waits now waits by the settings' order, none overtaken so far."""
        waiting = [(queue, self._tickets[ticket]) for queue in self.queues.values() for ticket in queue.tickets()]
        self.queues.clear()
        for queue, ticket in waiting:
            queue.leave(ticket.id)
            key = self._key(ticket)
            self.queues.setdefault(key, self._queue(key[0])).join(self._waiter(ticket))

    def _full(self, model: str) -> PointsmanError:
        limit = self._settings.queue_limit
        return QueueFull(f"{limit} requests are already waiting for model {model!r}; try again later")

    def _schedule_pump(self, now: float) -> None:
        if not self._pump_due:
            self._pump_due = True
            self._agenda.add(now + PUMP_SECONDS, self._pump_tick)

    def _pump_tick(self, _: None, now: float) -> None:
        self._pump_due = False
        self.pump_all(now)
        if self.queues:
            self._schedule_pump(now)

    def _time_out(self, wait: tuple[int, int], now: float) -> None:
        """The time of one wait is over: that of the ticket's, after so many attempts."""
        ticket_id, attempts = wait
        ticket = self._tickets.get(ticket_id)
        if ticket is not None and ticket.attempts == attempts and self.leave(ticket):
            self._out.append(self._refuse(ticket, self._too_late(ticket), now))

    def _too_late(self, ticket: Ticket) -> PointsmanError:
        model, limit = ticket.request.model, self._settings.queue_timeout_s
        if not len(self._fleet.candidates(model)[0]):
            told = f"no node for model {model!r} became available within {limit:g} s"
            return NoNode(f"{told} (nodes: {self._fleet.standing(model)}); try again later")
        return QueueTimeout(f"model {model!r} stayed at capacity for {limit:g} s; try again later")
