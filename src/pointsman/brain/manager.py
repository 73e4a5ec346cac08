"""The cache manager's own work between requests: whose memory is kept ready, which prefixes are sent where, and which
node is emptied at low load.

Nothing here is on a request's path. What is off is not even looked at from time to time.
"""

from collections.abc import Callable, Iterable, Mapping

from pointsman.brain.agenda import Agenda
from pointsman.brain.lease import Ticket
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.placement import Placement
from pointsman.brain.room.maker import Maker
from pointsman.brain.waiting import WaitingRoom
from pointsman.brain.warming import Warming

RENEW_SECONDS = 1.0
"""How often it is worked out what to keep ready."""
WARM_SECONDS = 0.5
"""How often hot prefixes are looked for: a request that begins with one is mostly still open then."""
GATHER_SECONDS = 1.0
"""How often it is looked whether memory is scattered."""
AT_ONCE = float("-inf")


class Manager:
    """`tickets` are those open. Mutates what `placement` keeps ready."""

    def __init__(
        self,
        settings: BrainSettings,
        placement: Placement,
        waiting: WaitingRoom,
        warming: Warming,
        maker: Maker,
        tickets: Mapping[int, Ticket],
        agenda: Agenda,
    ) -> None:
        self._placement = placement
        self._waiting = waiting
        self.warming = warming
        self._maker = maker
        self._tickets = tickets
        self._agenda = agenda
        self._going: set[str] = set()
        self._yielded: dict[str, int] = {}
        self._quiet_since: dict[str, float] = {}
        self.configure(settings)

    def configure(self, settings: BrainSettings) -> None:
        """Go by `settings` from now on."""
        self._settings = self.warming.settings = settings.cache
        self._begin("prealloc", self._placement.prealloc.on, self._renew)
        self._begin("warming", bool(self._settings.warm_nodes), self._warm)
        self._begin("gathering", bool(self._settings.gather_load), self._gather)

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
        self._yielded = self._yield_to(self._starving(now))
        prealloc.renew(now, self._yielded.values())
        self._agenda.add(now + RENEW_SECONDS, self._renew)

    def _warm(self, _: None, now: float) -> None:
        if not self._settings.warm_nodes:
            self._going.discard("warming")
            return
        if not self._waiting.queues:
            self.warming.step(now)
        self._agenda.add(now + WARM_SECONDS, self._warm)

    def _gather(self, _: None, now: float) -> None:
        if not self._settings.gather_load:
            self._going.discard("gathering")
            self._quiet_since.clear()
            return
        for model in self._quiet(now):
            plan = self._maker.emptier.plan(model, self._settings.gather_above, now)
            if plan is not None:
                self._maker.empty(plan, model, now)
                self._quiet_since.clear()  # those who move are work that has to be seen first
                break
        self._agenda.add(now + GATHER_SECONDS, self._gather)

    def _quiet(self, now: float) -> list[str]:
        """The models that have had little to do for long enough, and nobody waiting."""
        load, settings, waiting = self._maker.emptier.load, self._settings, self._waiting.lengths()
        quiet = [
            model
            for model in self._maker.emptier.models()
            if model not in waiting and load(model) <= settings.gather_load
        ]
        self._quiet_since = {model: self._quiet_since.get(model, now) for model in quiet}
        return [model for model, since in self._quiet_since.items() if now - since >= settings.gather_after_s]

    def _starving(self, now: float) -> list[Ticket]:
        """Those who are first of their queues by age, and have waited for too long."""
        oldest = (self._tickets[queue.oldest] for queue in self._waiting.queues.values())
        return [ticket for ticket in oldest if now - ticket.submitted > self._settings.starve_s]

    def _yield_to(self, starving: Iterable[Ticket]) -> dict[str, int]:
        """By model, the one node that no longer keeps memory from who starves, where most comes free by that.

        It stays the same while anyone does, so that what ends there adds up. All at once would help nobody more, since
        one node has to have it, and would cost those it is kept for everything.
        """
        pool, yielded = self._placement.pool, {}
        for ticket in starving:
            model = ticket.request.model
            rows = [row for row, _ in self._placement.prospects(ticket)]
            if self._yielded.get(model) in rows:
                yielded[model] = self._yielded[model]
            elif rows:
                yielded[model] = max(rows, key=lambda row: (pool.room(row) + pool.aside(row), -row))
        return yielded
