"""One answer out of those of all workers.

What is booked on a node adds up, and the supervisor knows the sums (`hub`). Of everything else that workers see
for themselves the greatest is told, of a node's share the least; a node's state is the one that most of them see.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from pointsman.admin.routes import Call, Route
from pointsman.admin.values import Gathering, Node
from pointsman.brain.model.sharing import Booked
from pointsman.observe.chapters import Story
from pointsman.observe.decision import Decision
from pointsman.observe.fleet_reading import FleetReading
from pointsman.observe.memory import Holding, Memory, NodeMemory, fleet
from pointsman.observe.queues import Queue

BOOKED = ("outstanding", "running", "backlog_tokens")
"""What is told of a node and is not what one worker sees but the sum of all."""

Sums = Callable[[str], Booked]
Label = TypeVar("Label", bound=str)


def merged(route: Route, call: Call, answers: Sequence[Any], sums: Sums) -> Any:
    """The answer to `call` out of the workers' `answers`, of which there is at least one."""
    first = answers[0]
    if isinstance(first, Node):
        return node(answers, sums)
    if route.answer == list[Node]:
        return nodes(answers, sums)
    if route.answer == list[Decision]:
        return decisions(answers, call)
    if route.answer == list[Story]:
        return sorted((story for answer in answers for story in answer), key=lambda story: story.arrived)
    if isinstance(first, Memory):
        return memory(answers)
    if route.answer == list[Holding]:
        return sorted((each for answer in answers for each in answer), key=lambda each: -each.since_s)
    if route.answer == list[Gathering]:
        return [each for answer in answers for each in answer]
    if route.answer == list[Queue]:
        return sorted((each for answer in answers for each in answer), key=lambda each: (each.model, each.apart))
    return first


def nodes(answers: Sequence[Sequence[Node]], sums: Sums) -> list[Node]:
    """Every node that some worker knows, in the order of the first that knows it."""
    seen: dict[str, list[Node]] = {}
    for answer in answers:
        for each in answer:
            seen.setdefault(each.id, []).append(each)
    return [node(same, sums) for same in seen.values()]


def node(same: Sequence[Node], sums: Sums) -> Node:
    """One node as several workers see it."""
    booked = sums(same[0].id)
    changes: dict[str, Any] = {"state": most([each.state for each in same])}
    for field in msgspec.structs.fields(Node):
        if field.name in BOOKED:
            changes[field.name] = field.type(getattr(booked, field.name))
        elif field.type is float:
            changes[field.name] = _worst(field.name)(getattr(each, field.name) for each in same)
    return msgspec.structs.replace(same[0], **changes)


def memory(answers: Sequence[Memory]) -> Memory:
    """Each node by the worker that has most booked there: all hear of each other, some sooner. Leases add up."""
    seen: dict[str, list[NodeMemory]] = {}
    for answer in answers:
        for each in answer.nodes:
            seen.setdefault(each.node, []).append(each)
    found = [
        msgspec.structs.replace(
            max(same, key=lambda each: each.reserved + each.queued),
            unused_tokens=sum(each.unused_tokens for each in same),
        )
        for same in seen.values()
    ]
    return Memory(fleet(found, sum(answer.fleet.blocked for answer in answers)), found)


def decisions(answers: Sequence[Sequence[Decision]], call: Call) -> list[Decision]:
    """As many as were asked for, newest first."""
    found = sorted((one for answer in answers for one in answer), key=lambda one: one.time, reverse=True)
    return found if call.query is None else found[: call.query.n]


def reading(readings: Sequence[FleetReading], sums: Sums) -> FleetReading:
    """The fleet as several workers see it: queues add up."""
    rows: dict[str, list[Mapping[str, float]]] = {}
    states: dict[str, list[str]] = {}
    queues: Counter[str] = Counter()
    panics: dict[str, bool] = {}
    oldest: dict[str, float] = {}
    known: Counter[str] = Counter()
    for each in readings:
        oldest |= {model: max(since, oldest.get(model, 0.0)) for model, since in each.oldest.items()}
        queues.update(each.queues)
        known.update(each.known_prompts)
        panics |= {model: panic or panics.get(model, False) for model, panic in each.panics.items()}
        for position, name in enumerate(each.nodes):
            row = {column: values[position] for column, values in each.columns.items()}
            rows.setdefault(name, []).append(row)
            states.setdefault(name, []).append(each.states[position])
    columns = {name for same in rows.values() for row in same for name in row}
    return FleetReading(
        nodes=list(rows),
        states=[most(states[name]) for name in rows],
        columns={column: [_one(column, same, sums(name)) for name, same in rows.items()] for column in columns},
        queues=queues,
        oldest=oldest,
        panics=panics,
        residencies={node: mode for each in readings for node, mode in each.residencies.items()},
        event_ages=_greatest(each.event_ages for each in readings),
        known_prompts=known,
        index_entries=max((each.index_entries for each in readings), default=0),
    )


def _greatest(maps: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The greatest value of each name."""
    found: dict[str, float] = {}
    for each in maps:
        found |= {name: max(value, found.get(name, value)) for name, value in each.items()}
    return found


def most(labels: Sequence[Label]) -> Label:
    """The label there is most of; of equals the first."""
    return Counter(labels).most_common(1)[0][0]


def _one(column: str, same: Sequence[Mapping[str, float]], booked: Booked) -> float:
    return float(getattr(booked, column)) if column in BOOKED else _worst(column)(row[column] for row in same)


def _worst(quantity: str) -> Callable[[Iterable[float]], float]:
    return min if quantity == "share" else max
