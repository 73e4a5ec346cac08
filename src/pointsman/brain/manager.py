"""The cache manager's own work between requests: whose memory is kept ready, and which prefixes are sent where.

Nothing here is on a request's path. What is off is not even looked at from time to time.
"""

from collections.abc import Callable, Mapping

from pointsman.brain.agenda import Agenda
from pointsman.brain.lease import Ticket
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.placement import Placement
from pointsman.brain.waiting import WaitingRoom
from pointsman.brain.warming import Warming

RENEW_SECONDS = 1.0
"""How often it is worked out what to keep ready."""
WARM_SECONDS = 0.5
"""How often hot prefixes are looked for: a request that begins with one is mostly still open then."""
AT_ONCE = float("-inf")


class Manager:
    """`tickets` are those open. Mutates what `placement` keeps ready."""

    def __init__(
        self,
        settings: BrainSettings,
        placement: Placement,
        waiting: WaitingRoom,
        warming: Warming,
        tickets: Mapping[int, Ticket],
        agenda: Agenda,
    ) -> None:
        self._placement = placement
        self._waiting = waiting
        self.warming = warming
        self._tickets = tickets
        self._agenda = agenda
        self._going: set[str] = set()
        self.configure(settings)

    def configure(self, settings: BrainSettings) -> None:
        """Go by `settings` from now on."""
        self._settings = self.warming.settings = settings.cache
        self._begin("prealloc", self._placement.prealloc.on, self._renew)
        self._begin("warming", bool(self._settings.warm_nodes), self._warm)

    def _begin(self, what: str, on: bool, action: Callable[[None, float], None]) -> None:
        """Do it from time to time, if it is on and is not done already."""
        if on and what not in self._going:
            self._going.add(what)
            self._agenda.add(AT_ONCE, action)

    def _renew(self, _: None, now: float) -> None:
        prealloc = self._placement.prealloc
        if not prealloc.on:
            self._going.discard("prealloc")
            return
        prealloc.renew(now, starving=self._starving(now))
        self._agenda.add(now + RENEW_SECONDS, self._renew)

    def _warm(self, _: None, now: float) -> None:
        if not self._settings.warm_nodes:
            self._going.discard("warming")
            return
        if not self._waiting.queues:
            self.warming.step(now)
        self._agenda.add(now + WARM_SECONDS, self._warm)

    def _starving(self, now: float) -> bool:
        """Whether anyone has waited for too long."""
        oldest = (self._tickets[queue.oldest] for queue in self._waiting.queues.values())
        return any(now - ticket.submitted > self._settings.starve_s for ticket in oldest)
