"""The fleet's KV memory as it is booked: each node's account, their sum, and what every request holds.

Nobody outside an engine sees its blocks. What leases reserve is counted exactly; what is cached is believed, from the
prompts that were sent, so every figure says by which mode it came about.
"""

from collections.abc import Iterable, Sequence
from math import inf

import msgspec

from pointsman.brain.dispatcher import Dispatcher
from pointsman.brain.lease import Ticket
from pointsman.brain.model.node import KvLayout, Residency
from pointsman.brain.outsiders import OutsideLease


class NodeMemory(msgspec.Struct, frozen=True, kw_only=True):
    """One node, in blocks of `block_tokens`; reserved + preallocated + pinned + cached + free = capacity.

    What is unknown is null. `preallocated` are kept ready for classes of requests, `pinned` hold beginnings of prompts
    that are not evicted; `queued` are booked beyond what the engine can hold now.
    `largest` is the largest request that would get its memory at once. `unused_tokens` are reserved by blocks that are
    not needed whole (internal fragmentation), `fragmentation` the share of free and cached blocks that no single
    request could have (external), 0..1.
    """

    node: str
    mode: Residency
    layout: KvLayout
    block_tokens: int
    capacity: int | None
    reserved: int
    preallocated: int
    pinned: int
    cached: int
    free: int | None
    queued: int
    largest: int | None
    unused_tokens: int
    fragmentation: float


class FleetMemory(msgspec.Struct, frozen=True, kw_only=True):
    """All nodes of known capacity, in tokens.

    `fragmentation` is the share of free and cached tokens that no single request could have on any one node, 0..1;
    `blocked` are the waiting requests that there would be enough for in sum, and on no node.
    """

    capacity: int
    reserved: int
    preallocated: int
    pinned: int
    cached: int
    free: int
    queued: int
    largest: int
    unused_tokens: int
    fragmentation: float
    blocked: int


class Memory(msgspec.Struct, frozen=True):
    """The fleet's KV memory, and each node's."""

    fleet: FleetMemory
    nodes: list[NodeMemory]


class Holding(msgspec.Struct, frozen=True, kw_only=True):
    """What one request holds, oldest first. `node` is null and `position` (1 = next) told while it waits.

    `reserved_tokens` are its prompt and the part of the answer that memory is kept for, in `blocks` of its node;
    `cached_tokens` of the prompt were believed on the node. `since_s` is how long ago it came. Of
    memory that others allocated, `request_id` is the lease, which ends in `lease_s`.
    """

    request_id: str
    model: str
    tenant: str
    priority: float
    node: str | None
    position: int | None
    blocks: int
    prompt_tokens: int
    reserved_tokens: int
    cached_tokens: int
    output_tokens: int
    since_s: float
    lease_s: float | None = None


def memory(dispatcher: Dispatcher) -> Memory:
    """The memory of every node, in the order they were added; changes nothing."""
    unused = _unused(dispatcher)
    nodes = [_node(dispatcher, row, unused.get(row, 0)) for row in dispatcher.fleet.rows()]
    return Memory(fleet(nodes, _blocked(dispatcher, {each.node: each for each in nodes})), nodes)


def holdings(dispatcher: Dispatcher, now: float) -> list[Holding]:
    """Every open request, waiting or placed, and those that others serve, oldest first."""
    found = [_holding(dispatcher, ticket, now) for ticket in dispatcher.tickets()]
    found += [_outsider(dispatcher, lease, now) for lease in dispatcher.outsiders.leases()]
    return sorted(found, key=lambda one: -one.since_s)


def fleet(nodes: Iterable[NodeMemory], blocked: int) -> FleetMemory:
    """The sum over `nodes` of known capacity."""
    known = [each for each in nodes if each.capacity is not None]
    sums = {
        name: sum(getattr(each, name) * each.block_tokens for each in known)
        for name in ("capacity", "reserved", "preallocated", "pinned", "cached", "free", "queued")
    }
    largest = max((_largest(each) for each in known), default=0)
    available = sums["free"] + sums["cached"]
    return FleetMemory(
        **sums,
        largest=largest,
        unused_tokens=sum(each.unused_tokens for each in known),
        fragmentation=1.0 - largest / available if available else 0.0,
        blocked=blocked,
    )


def _node(dispatcher: Dispatcher, row: int, unused: int) -> NodeMemory:
    spec = dispatcher.fleet.spec(row)
    account = dispatcher.placement.pool.account(row)
    return NodeMemory(
        node=spec.name,
        mode=dispatcher.placement.known_by(row),
        layout=spec.kv_layout,
        block_tokens=int(dispatcher.fleet.cells.block_tokens[row]),
        capacity=_known(account.capacity),
        reserved=int(account.reserved),
        preallocated=int(account.preallocated),
        pinned=int(account.pinned),
        cached=int(account.cached),
        free=_known(account.free),
        queued=int(account.queued),
        largest=_known(account.largest),
        unused_tokens=unused,
        fragmentation=account.external,
    )


def _holding(dispatcher: Dispatcher, ticket: Ticket, now: float) -> Holding:
    request, lease = ticket.request, ticket.lease
    return Holding(
        request_id=request.id,
        model=request.model,
        tenant=request.tenant,
        priority=request.priority,
        node=None if lease is None else lease.node,
        position=dispatcher.waiting.position(ticket) if lease is None else None,
        blocks=0 if lease is None else lease.blocks,
        prompt_tokens=ticket.prompt_tokens,
        reserved_tokens=ticket.prompt_tokens + ticket.reserve_tokens,
        cached_tokens=0 if lease is None else lease.overlap_tokens,
        output_tokens=0 if lease is None else lease.tokens,
        since_s=now - ticket.submitted,
    )


def _outsider(dispatcher: Dispatcher, lease: OutsideLease, now: float) -> Holding:
    wish, fleet = lease.wish, dispatcher.fleet
    there = fleet.generation[lease.row] == lease.generation and fleet.specs[lease.row] is not None
    return Holding(
        request_id=lease.id,
        model=wish.model,
        tenant="",
        priority=wish.priority,
        node=fleet.spec(lease.row).name if there else None,
        position=None,
        blocks=lease.blocks,
        prompt_tokens=wish.prompt_tokens,
        reserved_tokens=wish.prompt_tokens + wish.output_tokens,
        cached_tokens=0,
        output_tokens=0,
        since_s=now - lease.began,
        lease_s=lease.until - now,
    )


def _unused(dispatcher: Dispatcher) -> dict[int, int]:
    """Tokens that each row's blocks hold beyond what their leases asked for."""
    unused: dict[int, int] = {}
    for ticket in dispatcher.tickets():
        lease = ticket.lease
        if lease is not None:
            held = lease.blocks * int(dispatcher.fleet.cells.block_tokens[lease.row])
            wanted = ticket.prompt_tokens + ticket.reserve_tokens
            unused[lease.row] = unused.get(lease.row, 0) + held - wanted
    return unused


def _blocked(dispatcher: Dispatcher, nodes: dict[str, NodeMemory]) -> int:
    """Waiting tickets that there is enough for in sum, and on no node. What is cached of their prompts is not known."""
    blocked = 0
    for ticket in dispatcher.tickets():
        if ticket.lease is None:
            rows = dispatcher.fleet.candidates(ticket.request.model)[0].tolist()
            found = [nodes[dispatcher.fleet.spec(row).name] for row in rows]
            blocked += _fits_in_sum_only(found, ticket.prompt_tokens + ticket.reserve_tokens)
    return blocked


def _fits_in_sum_only(nodes: Sequence[NodeMemory], tokens: int) -> bool:
    if any(each.free is None for each in nodes):
        return False
    in_sum = sum(((each.free or 0) + each.cached) * each.block_tokens for each in nodes)
    return max(map(_largest, nodes), default=0) < tokens <= in_sum


def _largest(node: NodeMemory) -> int:
    """In tokens."""
    return (node.largest or 0) * node.block_tokens


def _known(amount: float) -> int | None:
    return None if amount == inf else int(amount)
