"""The cache manager's own work between requests: whose memory is kept ready.

Nothing here is on a request's path. What is off is not even looked at from time to time.
"""

from collections.abc import Mapping

from pointsman.brain.agenda import Agenda
from pointsman.brain.lease import Ticket
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.placement import Placement
from pointsman.brain.waiting import WaitingRoom

RENEW_SECONDS = 1.0
"""How often it is worked out what to keep ready."""
AT_ONCE = float("-inf")


class Manager:
    """`tickets` are those open. Mutates what `placement` keeps ready."""

    def __init__(
        self,
        settings: BrainSettings,
        placement: Placement,
        waiting: WaitingRoom,
        tickets: Mapping[int, Ticket],
        agenda: Agenda,
    ) -> None:
        self._placement = placement
        self._waiting = waiting
        self._tickets = tickets
        self._agenda = agenda
        self._renewing = False
        self.configure(settings)

    def configure(self, settings: BrainSettings) -> None:
        """Go by `settings` from now on."""
        self._settings = settings.cache
        if self._placement.prealloc.on and not self._renewing:
            self._renewing = True
            self._agenda.add(AT_ONCE, self._renew)

    def _renew(self, _: None, now: float) -> None:
        prealloc = self._placement.prealloc
        self._renewing = prealloc.on
        if prealloc.on:
            prealloc.renew(now, starving=self._starving(now))
            self._agenda.add(now + RENEW_SECONDS, self._renew)

    def _starving(self, now: float) -> bool:
        """Whether anyone has waited for too long."""
        oldest = (self._tickets[queue.oldest] for queue in self._waiting.queues.values())
        return any(now - ticket.submitted > self._settings.starve_s for ticket in oldest)
