"""What hears of facts by kind, for all that only look on."""

from mypy_extensions import mypyc_attr

from pointsman.brain.model.facts import Fact
from pointsman.brain.observers import Handlers


@mypyc_attr(allow_interpreted_subclasses=True)
class Subscriber:
    """Handles the kinds of facts that `handlers` names; called with any fact, it lets the others pass."""

    handlers: Handlers

    def __call__(self, fact: Fact) -> None:
        handle = self.handlers.get(type(fact))
        if handle is not None:
            handle(fact)
