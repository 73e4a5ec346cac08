"""The changes made by the admin API, kept to be made again by a worker that starts later.

What a later change undoes is forgotten, so the list grows with the nodes and scopes there are, not with time.
"""

from collections.abc import Collection

import msgspec

from pointsman.admin.routes import Call
from pointsman.admin.values import NodeChange, PolicyChange
from pointsman.brain.model.node import NodeSpec
from pointsman.workers.messages import Question


class _Change(msgspec.Struct, frozen=True):
    """`fields` are what it sets about its subject, a node's id or a policy's scope."""

    method: str
    subject: str
    fields: frozenset[str]
    question: Question


class Changes:
    """Changes in the order they were made, as the questions that made them."""

    def __init__(self) -> None:
        self._made: list[_Change] = []

    def made(self) -> list[Question]:
        """All that are still of consequence."""
        return [change.question for change in self._made]

    def note(self, question: Question, call: Call) -> None:
        """A change was made; `call` is what `question` asked, decoded."""
        change = _Change(question.method, _subject(call), _fields(call), question)
        if change.method == "DELETE" and self._undoes_an_addition(change):
            self._made = [each for each in self._made if each.subject != change.subject or each.method == "PUT"]
        else:
            self._made = [each for each in self._made if not _replaces(change, each)] + [change]

    def overrule(self, nodes: Collection[str], scopes: Collection[str]) -> None:
        """The configuration says something new of these: only that a node is drained goes beside it."""
        self._made = [each for each in self._made if not _overruled(each, nodes, scopes)]

    def _undoes_an_addition(self, change: _Change) -> bool:
        """Whether the node was added by the admin API and was none of the configuration."""
        methods = {each.method for each in self._made if each.subject == change.subject}
        return "POST" in methods and "DELETE" not in methods


def _overruled(change: _Change, nodes: Collection[str], scopes: Collection[str]) -> bool:
    if change.method == "PUT":
        return change.subject in scopes
    return change.subject in nodes and "drain" not in change.fields


def _replaces(new: _Change, old: _Change) -> bool:
    if new.subject != old.subject or (new.method == "PUT") != (old.method == "PUT"):
        return False
    return new.method == "DELETE" or (new.method == old.method and old.fields <= new.fields)


def _subject(call: Call) -> str:
    if isinstance(call.body, NodeSpec):
        return call.body.name
    return call.body.scope if isinstance(call.body, PolicyChange) else call.id


def _fields(call: Call) -> frozenset[str]:
    if not isinstance(call.body, NodeChange):
        return frozenset()
    return frozenset(name for name, value in msgspec.structs.asdict(call.body).items() if value is not None)
