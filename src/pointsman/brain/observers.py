"""Who is told of which facts.

An observer is either called with every fact, or has a handler for each kind of fact it wants. So a fact that is made
on every request costs one call for each handler that wants it, and none for the others.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pointsman.brain.model.facts import Fact

Observer = Callable[[Fact], None]
Handlers = Mapping[type, Callable[[Any], None]]
"""By kind of fact, whom to call with it."""


class Observers:
    """Calls observers in the order they came: a callable on a fact. Mutated by `add` only."""

    def __init__(self, observers: Sequence[Observer] = ()) -> None:
        self._observers: list[Observer | Handlers] = list(observers)
        self._told: dict[type, tuple[Callable[[Any], None], ...]] = {}

    def add(self, handlers: Handlers) -> None:
        """Call `handlers` with what happens from now on."""
        self._observers.append(handlers)
        self._told.clear()

    def want(self, kind: type) -> bool:
        """Whether anybody is to be told of such facts: else there is no need to make them."""
        told = self._told.get(kind)
        return bool(self._find(kind) if told is None else told)

    def __call__(self, fact: Fact) -> None:
        told = self._told.get(type(fact))
        if told is None:
            told = self._find(type(fact))
        for tell in told:
            tell(fact)

    def _find(self, kind: type) -> tuple[Callable[[Any], None], ...]:
        found = (each.get(kind) if isinstance(each, Mapping) else each for each in self._observers)
        told = self._told[kind] = tuple(tell for tell in found if tell is not None)
        return told
