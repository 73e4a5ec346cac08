"""What the gateway says happened: the facts of each model, and whether it ever gave work to a node that was out."""

from collections import defaultdict

from pointsman.brain.model.facts import Ended, Fact, NodeChanged, Placed, Queued, Refused
from pointsman.brain.model.node import NodeState

Told = Placed | Ended | Refused | Queued
_OUT = (NodeState.DOWN, NodeState.DRAINING, NodeState.GONE)


class Ledger:
    """A subscriber to facts. `wrong` holds a sentence for each dispatch to a node that was out."""

    def __init__(self) -> None:
        self._facts: defaultdict[str, list[Told]] = defaultdict(list)
        self._states: dict[str, str] = {}
        self.wrong: list[str] = []

    def __call__(self, fact: Fact) -> None:
        if isinstance(fact, NodeChanged):
            self._states[fact.node] = fact.after
        elif isinstance(fact, Told):
            self._facts[fact.request.model].append(fact)
            if isinstance(fact, Placed) and self._states.get(fact.node) in _OUT:
                self.wrong.append(f"{fact.request.id} was sent to {fact.node}, which was {self._states[fact.node]}")

    def of(self, request_id: str, model: str) -> list[Told]:
        """The facts of one request, in order."""
        return [fact for fact in self._facts[model] if fact.request.id == request_id]

    def placed(self, request_id: str, model: str) -> list[Placed]:
        """Its tries."""
        return [fact for fact in self.of(request_id, model) if isinstance(fact, Placed)]

    def ended(self, request_id: str, model: str) -> list[Ended]:
        """How each of its tries ended."""
        return [fact for fact in self.of(request_id, model) if isinstance(fact, Ended)]

    def refused(self, request_id: str, model: str) -> list[Refused]:
        """What its client was refused with; one at most, if all is well."""
        return [fact for fact in self.of(request_id, model) if isinstance(fact, Refused)]

    def closed(self, request_id: str, model: str) -> bool:
        """Whether the request has come to an end."""
        final = any(fact.final for fact in self.ended(request_id, model))
        return final or bool(self.refused(request_id, model))

    def model(self, model: str) -> list[Told]:
        """Every fact about a model."""
        return self._facts[model]
