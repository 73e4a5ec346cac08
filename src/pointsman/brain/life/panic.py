"""Tells when a model's nodes are so few that its requests go to all that do not refuse them, and when that is over."""

from collections.abc import Callable, Iterable

from pointsman.brain.fleet import IN_USE, Fleet
from pointsman.brain.model.facts import Fact, PanicChanged


class PanicWatch:
    """Remembers which models are in panic; the rule itself is `Fleet.panics`."""

    def __init__(self, fleet: Fleet, emit: Callable[[Fact], None]) -> None:
        self._fleet = fleet
        self._emit = emit
        self._panicking: set[str] = set()

    def look(self, models: Iterable[str], now: float) -> None:
        """Something that decides about the panic of `models` may have changed."""
        for model in sorted(models):
            panic = self._fleet.panics(model)
            if panic is not (model in self._panicking):
                (self._panicking.add if panic else self._panicking.discard)(model)
                members = self._fleet.members(model)
                in_use = sum(self._fleet.states[row] in IN_USE for row in members)
                self._emit(PanicChanged(now, model, panic, in_use, len(members)))
