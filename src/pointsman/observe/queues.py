"""Who waits, where each stands and what wait it is expected to have."""

from typing import Annotated

import msgspec
from msgspec import Meta

from pointsman.brain.admission.queue import Queue as Tickets
from pointsman.brain.dispatcher import Dispatcher
from pointsman.brain.waiting import Key


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """One request that waits. Its story, under `/decisions/{id}`, tells why."""

    position: Annotated[int, Meta(description="1 = next, by the order as it is now")]
    request_id: str
    tenant: str
    priority: float
    prompt_tokens: int
    waited_s: Annotated[float, Meta(description="since it came, earlier tries included")]
    expected_s: Annotated[float | None, Meta(description="how much longer, by the pace of late; null if unknown")]
    interruptions: Annotated[int, Meta(description="times that its answer was interrupted")]


class Queue(msgspec.Struct, frozen=True, kw_only=True):
    """Requests that wait for the same nodes, and stand in one line: each model has one, and more where some wait apart.

    Of several workers each has its own.
    """

    model: str
    apart: Annotated[str, Meta(description="what its requests have in common beside the model, empty if nothing")]
    order: str
    length: int
    oldest_s: Annotated[float, Meta(description="how long ago the one came that stands in it for longest")]
    interval_s: Annotated[
        float | None, Meta(description="seconds between placements of late, while anyone waited; null if unknown")
    ]
    first: Annotated[list[Waiting], Meta(description="those who go first")]


def queues(dispatcher: Dispatcher, now: float, most: int) -> list[Queue]:
    """Every queue that is not empty, by model, with at most `most` of those who wait in each; changes nothing."""
    found = [_queue(dispatcher, key, tickets, now, most) for key, tickets in dispatcher.waiting.queues.items()]
    return sorted(found, key=lambda queue: (queue.model, queue.apart))


def oldest(dispatcher: Dispatcher, now: float) -> dict[str, float]:
    """How long (seconds) each model's oldest request has waited, 0 where none does."""
    found = dict.fromkeys(dispatcher.models(), 0.0)
    for (model, *_), tickets in dispatcher.waiting.queues.items():
        since = now - dispatcher.lives.tickets[tickets.oldest].submitted
        found[model] = max(found.get(model, 0.0), since)
    return found


def _queue(dispatcher: Dispatcher, key: Key, tickets: Tickets, now: float, most: int) -> Queue:
    oldest = dispatcher.lives.tickets[tickets.oldest]
    return Queue(
        model=key[0],
        apart=_apart(key),
        order=dispatcher.settings.order,
        length=len(tickets),
        oldest_s=now - oldest.submitted,
        interval_s=dispatcher.waiting.expected(oldest, 1, now),
        first=[_waiting(dispatcher, position, ticket, now) for position, ticket in tickets.first(most)],
    )


def _apart(key: Key) -> str:
    _, failed, long, tenant = key
    said = ["long prompts"] if long else []
    said += [f"tenant {tenant}"] if tenant else []
    said += [f"failed on {', '.join(failed)}"] if failed else []
    return "; ".join(said)


def _waiting(dispatcher: Dispatcher, position: int, ticket_id: int, now: float) -> Waiting:
    ticket = dispatcher.lives.tickets[ticket_id]
    request = ticket.request
    return Waiting(
        position=position,
        request_id=request.id,
        tenant=request.tenant,
        priority=request.priority,
        prompt_tokens=ticket.prompt_tokens,
        waited_s=now - ticket.submitted,
        expected_s=dispatcher.waiting.expected(ticket, position, now),
        interruptions=ticket.interruptions,
    )
