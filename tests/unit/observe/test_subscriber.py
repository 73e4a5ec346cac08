"""Facts by kind."""

from typing import Any

from pointsman.brain.model.facts import Fact, PanicChanged, Warmed
from pointsman.observe.subscriber import Subscriber


class Listener(Subscriber):
    def __init__(self) -> None:
        self.heard: list[Any] = []
        self.handlers = {PanicChanged: self.heard.append}


def test_only_the_kinds_that_are_named_are_heard_of() -> None:
    listener = Listener()
    panic = PanicChanged(1.0, "m", True, 1, 4)
    facts: list[Fact] = [Warmed(0.0, "a", "m", 512, 0.1, True), panic]
    for fact in facts:
        listener(fact)
    assert listener.heard == [panic]
