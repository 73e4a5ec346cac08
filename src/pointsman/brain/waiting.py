"""Who waits, for how long, and who goes next when room appears.

One queue per model. A pump offers the queue's window to the policy until the policy places nothing more: a policy
that binds late says which of the window goes next, every other gets the head. While anything waits, the agenda pumps
at short intervals too, since estimates change with time alone.
"""

from collections.abc import Callable, Mapping

from pointsman.brain.admission.queue import Queue
from pointsman.brain.agenda import Agenda
from pointsman.brain.fleet import Fleet
from pointsman.brain.lease import Ticket
from pointsman.brain.model.errors import NoNode, PointsmanError, QueueFull, QueueTimeout
from pointsman.brain.model.orders import Order, Start
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.placement import Placement
from pointsman.brain.policies.base import Policy

PUMP_SECONDS = 0.05
"""How often waiting tickets are looked at when nothing else moves."""


class WaitingRoom:
    """The queues of all models. `place` starts a ticket or returns None; `refuse` ends one; starts go to `out`."""

    def __init__(
        self,
        settings: BrainSettings,
        fleet: Fleet,
        placement: Placement,
        agenda: Agenda,
        tickets: Mapping[int, Ticket],
        place: Callable[[Ticket, float], Start | None],
        refuse: Callable[[Ticket, PointsmanError, float], Order],
        out: list[Order],
    ) -> None:
        self._settings = settings
        self._fleet = fleet
        self._placement = placement
        self._agenda = agenda
        self._tickets = tickets
        self._place = place
        self._refuse = refuse
        self._out = out
        self.queues: dict[str, Queue] = {}
        self._pump_due = False

    def empty(self, model: str) -> bool:
        """Whether nobody waits for `model`."""
        return not self.queues.get(model)

    def join(self, ticket: Ticket, now: float) -> int | PointsmanError:
        """Wait at the end: the position (1 = next), or the error that the queue is full."""
        model = ticket.request.model
        queue = self.queues.get(model)
        if queue is None:
            queue = self.queues[model] = Queue(self._settings.queue_limit, self._settings.overtake_limit)
        if queue.full:
            return QueueFull(f"{queue.limit} requests are already waiting for model {model!r}; try again later")
        self._agenda.add(now + self._settings.queue_timeout_s, self._time_out, ticket.id)
        self._schedule_pump(now)
        return queue.join(ticket.id)

    def leave(self, ticket: Ticket) -> bool:
        """Leave without being placed; false if the ticket did not wait."""
        queue = self.queues.get(ticket.request.model)
        return queue is not None and queue.leave(ticket.id)

    def pump(self, model: str, now: float) -> None:
        """Start waiting tickets of `model` as long as its policy places them."""
        queue = self.queues.get(model)
        while queue:
            start = self._place_one(queue, now)
            if start is None:
                break
            queue.take(start.ticket)
            self._out.append(start)

    def pump_all(self, now: float) -> None:
        """Pump every model."""
        for model in self.queues:
            self.pump(model, now)

    def _place_one(self, queue: Queue, now: float) -> Start | None:
        window = queue.window(self._settings.window)
        ticket = self._tickets[window[0]]
        policy = self._placement.policy(ticket)
        if policy.binds_late and len(window) > 1:
            ticket = self._picked(policy, window, now) or ticket
        return self._place(ticket, now)

    def _picked(self, policy: Policy, window: list[int], now: float) -> Ticket | None:
        """The waiting ticket that a late-binding policy wants to go next."""
        tickets = [self._tickets[ticket] for ticket in window]
        seen = [(ticket, view) for ticket in tickets if (view := self._placement.view(ticket, now)) is not None]
        if not seen:
            return None
        return seen[policy.pick([ticket.request for ticket, _ in seen], [view for _, view in seen])][0]

    def _schedule_pump(self, now: float) -> None:
        if not self._pump_due:
            self._pump_due = True
            self._agenda.add(now + PUMP_SECONDS, self._pump_tick)

    def _pump_tick(self, _: None, now: float) -> None:
        self._pump_due = False
        self.pump_all(now)
        if any(self.queues.values()):
            self._schedule_pump(now)

    def _time_out(self, ticket_id: int, now: float) -> None:
        ticket = self._tickets.get(ticket_id)
        if ticket is not None and self.leave(ticket):
            self._out.append(self._refuse(ticket, self._too_late(ticket), now))

    def _too_late(self, ticket: Ticket) -> PointsmanError:
        model, limit = ticket.request.model, self._settings.queue_timeout_s
        if not len(self._fleet.candidates(model)[0]):
            return NoNode(f"no node for model {model!r} became available within {limit:g} s; try again later")
        return QueueTimeout(f"model {model!r} stayed at capacity for {limit:g} s; try again later")
