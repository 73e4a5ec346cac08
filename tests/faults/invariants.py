"""What must hold in every cell: the client's log, the gateway's facts and the engines' audit joined.

Each function yields a sentence for whatever is wrong.
"""

import json
from collections.abc import Iterator

from pointsman.brain.model.facts import Ended, Placed
from pointsman.brain.model.outcome import Verdict

from .cells import SILENT, SLOW, Cell, Fault, Phase
from .client import Client
from .engines import text_of
from .expected import End, Expected
from .relay import Relay
from .stage import Stage

_AT_REST = ("outstanding", "running", "kv_reserved", "backlog_tokens", "context_tokens")
_LAST = (Phase.BEFORE_DONE, Phase.AFTER_DONE)


def problems(stage: Stage, subject: Client) -> Iterator[str]:
    """The invariants of every cell, whether its client stayed or left."""
    for client in stage.clients:
        yield from one_ending(stage, client)
        yield from retried_only_unseen(stage, client)
        yield from faithful(stage, client)
    yield from nothing_held(stage)
    yield from counted(stage)
    if not stage.plan.struck.is_set():
        yield "the fault did not strike"


def one_ending(stage: Stage, client: Client) -> Iterator[str]:
    """One terminal outcome in the facts; one status, one error at most and one [DONE] at most for the client."""
    ledger = stage.world.ledger
    final = [fact for fact in ledger.ended(client.id, stage.model) if fact.final]
    refused = ledger.refused(client.id, stage.model)
    if len(final) > 1 or len(refused) > 1 or not final + refused:
        yield f"{client.id} ended {len(final)} times and was refused {len(refused)} times"
    if refused and final and final[0].outcome.delivered:
        yield f"{client.id} was answered and refused"
    if client.raw.count(b"HTTP/1.1 ") > 1:
        yield f"{client.id} was sent more than one status"
    if sum("error" in document for document in client.documents) > 1:
        yield f"{client.id} was sent more than one error"
    events = client.events
    if b"[DONE]" in events[:-1] and stage.cell.fault is not Fault.IN_BAND:
        yield f"{client.id} was sent something behind [DONE]"


def retried_only_unseen(stage: Stage, client: Client) -> Iterator[str]:
    """A further start only with nothing delivered, on another node, and never a third one."""
    facts = [fact for fact in stage.world.ledger.of(client.id, stage.model) if isinstance(fact, Placed | Ended)]
    placed = [fact for fact in facts if isinstance(fact, Placed)]
    ended = [fact for fact in facts if isinstance(fact, Ended)]
    if len(placed) > 2 or len({fact.node for fact in placed}) < len(placed):
        yield f"{client.id} was placed on {[fact.node for fact in placed]}"
    if [isinstance(fact, Placed) for fact in facts] != [True, False] * len(placed):
        yield f"{client.id}: a try began before the one before had ended, or did not end"
    if any(fact.outcome.delivered for fact in ended[:-1]):
        yield f"{client.id} was tried again after bytes had gone to the client"


def faithful(stage: Stage, client: Client) -> Iterator[str]:
    """What the client has is a beginning of what its last node said: nothing made up, repeated, lost or reordered."""
    relays = relays_of(stage, client)
    if client.status != 200 or not client.body:
        return
    if not relays:
        yield f"{client.id} was answered by nobody"
        return
    said = relays[-1].forwarded
    if not relays[-1].stream:
        if not said.startswith(client.body):
            yield f"{client.id} has other bytes than the node sent"
        return
    events = _without_usage(said)
    own = client.events
    common = next((n for n, (x, y) in enumerate(zip(own, events, strict=False)) if x != y), min(len(own), len(events)))
    ours = own[common:]
    if ours and not (len(ours) == 2 and b'"error"' in ours[0] and ours[1] == b"[DONE]"):
        yield f"{client.id} has {own[common][:60]!r} where the node sent {events[common : common + 1]}"
    text, full = text_in(client), text_of(*stage.prompts[client.id])
    if not full.startswith(text):
        yield f"{client.id} has the text {text!r}, the engine said {full!r}"


def nothing_held(stage: Stage) -> Iterator[str]:
    """At rest every account of both nodes is zero, and nobody waits."""
    dispatcher = stage.world.dispatcher
    for row, node in zip(stage.rows, stage.nodes, strict=True):
        for column in _AT_REST:
            if value := float(getattr(dispatcher.fleet.columns, column)[row]):
                yield f"{node.name} still has {column} = {value:g}"
    if waiting := dispatcher.queued().get(stage.model):
        yield f"{waiting} requests still wait"
    for client in stage.clients:
        if left := sum(engine.running(client.id) for engine in {node.engine for node in stage.nodes}):
            yield f"{client.id}: the engines still compute {left} of its tries"


def counted(stage: Stage) -> Iterator[str]:
    """The counters say what the facts say."""
    metrics, facts = stage.world.metrics, stage.world.ledger.model(stage.model)
    tries = sum(count for labels, count in metrics.tries.items() if labels[0] == stage.model)
    requests = sum(count for labels, count in metrics.requests.items() if labels[0] == stage.model)
    placed = sum(isinstance(fact, Placed) for fact in facts)
    final = sum(isinstance(fact, Ended) and fact.final for fact in facts)
    if (tries, requests) != (placed, final):
        yield f"{placed} tries of {final} requests were counted as {tries} of {requests}"


def as_expected(stage: Stage, client: Client, wanted: Expected) -> Iterator[str]:
    """The result that the rules want for a client that stayed."""
    end = end_of(client, relays_of(stage, client), text_of(*stage.prompts[client.id]))
    if (end, client.status) != (wanted.end, wanted.status):
        yield f"the client got {client.status} {end}, not {wanted.status} {wanted.end}"
    tries = stage.world.ledger.ended(client.id, stage.model)
    if len(tries) != wanted.tries:
        yield f"{len(tries)} tries, not {wanted.tries}"
    if tries and tries[0].outcome.reason != wanted.reason:
        yield f"the first try ended by {tries[0].outcome.reason!r}, not {wanted.reason!r}"


def left_well(stage: Stage, client: Client) -> Iterator[str]:
    """The result for a client that left: nobody goes on working for it, and the record says why."""
    cell, ledger = stage.cell, stage.world.ledger
    if cell.phase is Phase.QUEUED:
        if relays_of(stage, client) or ledger.placed(client.id, stage.model):
            yield "a node was sent the request of a client who had left the queue"
        return
    ended = ledger.ended(client.id, stage.model)
    if hangs_on(cell) and [fact.outcome.verdict for fact in ended] != [Verdict.CANCELLED]:
        yield f"the tries ended by {[fact.outcome.reason for fact in ended]}, not by the client's leaving"


def hangs_on(cell: Cell) -> bool:
    """Whether the answer is still to come, and nothing but the client's leaving can have ended the try."""
    if cell.fault in SILENT:
        return cell.phase is not Phase.AFTER_DONE
    little_left = _LAST if cell.stream else (Phase.MIDDLE, *_LAST)
    return cell.fault in SLOW and cell.phase not in little_left


def end_of(client: Client, relays: list[Relay], full: str) -> End | str:
    """How the answer ended, as the client can tell."""
    if client.status != 200:
        return End.REFUSED if client.complete and "error" in json.loads(client.body) else "torn error"
    if not relays or not relays[-1].stream:
        return _end_of_plain(client, full)
    errors = [document for document in client.documents if "error" in document]
    if not client.complete:
        return "torn stream"
    if errors:
        ours = errors[0]["error"].get("code") == "node_failed"
        ends = client.events[-1] == b"[DONE]"
        return (End.CUT if ours else End.IN_BAND) if ends else "error without [DONE]"
    return End.WHOLE if text_in(client) == full else "a part as if it were whole"


def relays_of(stage: Stage, client: Client) -> list[Relay]:
    """The request's arrivals at nodes, the last try's last."""
    order = [fact.node for fact in stage.world.ledger.placed(client.id, stage.model)]
    found = [relay for node in stage.nodes for relay in node.relays if relay.request.id == client.id]
    return sorted(found, key=lambda relay: order.index(relay.node.name))


def text_in(client: Client) -> str:
    """The text a stream has brought so far."""
    choices = [choice for document in client.documents for choice in document.get("choices", ())]
    return "".join(choice["delta"].get("content") or "" for choice in choices)


def _end_of_plain(client: Client, full: str) -> End | str:
    if not client.complete:
        return End.BROKEN
    try:
        document = json.loads(client.body)
    except ValueError:
        return "a part as if it were whole"
    if "error" in document:
        return End.IN_BAND
    return End.WHOLE if document["choices"][0]["message"]["content"] == full else "another text"


def _without_usage(body: bytes) -> list[bytes]:
    """The events a client should see: usage was the gateway's own wish."""
    events = [part.removeprefix(b"data: ") for part in body.split(b"\n\n")[:-1]]
    return [event for event in events if b'"choices":[],"usage"' not in event]
