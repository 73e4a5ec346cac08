"""What the admin application may see and do, whoever it is that runs the dispatcher.

Strategy: the application knows no gateway. It is handed a dispatcher, its observers and `obey`, which carries out the
orders that a change leads to. Everything here is synchronous and runs on the dispatcher's own loop, so no lock is
needed.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol

import msgspec

from pointsman.admin.values import (
    Gathering,
    Node,
    NodeChange,
    Pinned,
    PinWish,
    PolicyChange,
    PolicyInUse,
    Renewal,
    WarmUp,
    WarmWish,
)
from pointsman.brain.dispatcher import Dispatcher
from pointsman.brain.lease import Ticket
from pointsman.brain.model.commands import Pin, Unpin
from pointsman.brain.model.errors import Conflict
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.orders import Instruct, Order, Warm
from pointsman.brain.model.outside import Allocation, MemoryWish
from pointsman.brain.policies.registry import build
from pointsman.brain.room.plan import Plan
from pointsman.clock import Clock
from pointsman.observe import exposition
from pointsman.observe.calls import PolicySpec
from pointsman.observe.chapters import Story
from pointsman.observe.decision import Decision
from pointsman.observe.decisions import KEPT, Decisions
from pointsman.observe.fleet_reading import FleetReading, read
from pointsman.observe.memory import Holding, Memory, holdings, memory
from pointsman.observe.metrics import Metrics
from pointsman.observe.queues import Queue, queues
from pointsman.observe.stories import Stories

_FORGOTTEN = (
    f"nothing is remembered about request {{!r}}: each process remembers its last {KEPT} until it ends or is replaced,"
    " and none it could not serve at all (400, 401, 404); a journal knows more: explain ID --journal FILE"
)

Obey = Callable[[list[Order]], Any]


class Pins(Protocol):
    """Has nodes keep the prompt of a request (path and body), or no longer."""

    def __call__(self, path: str, data: bytes, nodes: Sequence[str], *, keep: bool) -> Sequence[Instruct]: ...


def _pins_nothing(path: str, data: bytes, nodes: Sequence[str], *, keep: bool) -> Sequence[Instruct]:  # noqa: ARG001
    return ()


class Services:
    """The dispatcher as the admin application sees it.

    `ready` adds the caller's own reasons not to be ready; `admit` raises ValueError for a node it could not reach;
    `warm` sends the prompt of a request (path and body) to nodes, `pin` has them keep it.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        obey: Obey,
        clock: Clock,
        metrics: Metrics,
        decisions: Decisions,
        stories: Stories,
        ready: Callable[[], bool] = lambda: True,
        admit: Callable[[NodeSpec], Any] = lambda _: None,
        warm: Callable[[str, bytes, Sequence[str]], Sequence[Warm]] = lambda _path, _data, _nodes: (),
        pin: Pins = _pins_nothing,
    ) -> None:
        self._dispatcher = dispatcher
        self._obey = obey
        self._now = clock.now
        self._decisions = decisions
        self._stories = stories
        self._ready = ready
        self._admit = admit
        self._warm = warm
        self._pin = pin
        self._registry = exposition.registry(metrics, self.reading)

    def metrics_page(self) -> bytes:
        """The text of a Prometheus scrape."""
        return exposition.page(self._registry)

    def ready(self) -> bool:
        """Whether at least one node can be given work."""
        return self._ready() and self._dispatcher.available() > 0

    def reading(self) -> FleetReading:
        """The fleet as it is now."""
        return read(self._dispatcher, self._now())

    def nodes(self) -> list[Node]:
        """Every node, in the order it was added."""
        reading = self.reading()
        columns = [dict(zip(reading.columns, row, strict=True)) for row in zip(*reading.columns.values(), strict=True)]
        return [self._node(*each) for each in zip(reading.nodes, reading.states, columns, strict=True)]

    def node(self, node: str) -> Node:
        """One node. Raises LookupError for an unknown id."""
        nodes = {each.id: each for each in self.nodes()}
        if node not in nodes:
            raise LookupError(f"no node {node!r}; there are: {', '.join(sorted(nodes)) or 'none'}")
        return nodes[node]

    def add_node(self, spec: NodeSpec) -> Node:
        """Add a node; it is joining until its first good probe. Raises ValueError for a bad address or a taken id."""
        self._admit(spec)
        self._obey(self._dispatcher.add_node(spec, self._now()))
        return self.node(spec.name)

    def remove_node(self, node: str) -> None:
        """Let the node finish what it has, then forget it. Raises LookupError."""
        self._obey(self._dispatcher.remove_node(node, self._now()))

    def change_node(self, node: str, change: NodeChange) -> Node:
        """Drain, undrain or weigh the node. Raises LookupError, ValueError."""
        dispatcher, now = self._dispatcher, self._now()
        if change.weight is not None:
            self._obey(dispatcher.set_weight(node, change.weight, now))
        if change.limit_s is not None and not change.drain:
            raise ValueError("`limit_s` goes with `drain`: true")
        if change.drain is False:
            self._obey(dispatcher.undrain(node, now))
        elif change.limit_s is not None:
            self._obey(dispatcher.drain_within(node, change.limit_s, now))
        elif change.drain:
            self._obey(dispatcher.drain(node, now))
        return self.node(node)

    def memory(self) -> Memory:
        """The KV memory of every node and of all."""
        return memory(self._dispatcher)

    def holdings(self) -> list[Holding]:
        """What every open request holds of it."""
        return holdings(self._dispatcher, self._now())

    def queues(self, most: int) -> list[Queue]:
        """Every queue in which anyone waits, with at most `most` of those who go first."""
        return queues(self._dispatcher, self._now(), most)

    def defragment(self, *, dry_run: bool) -> list[Gathering]:
        """Gather memory for those who wait and fit nowhere; what is done, or would be."""
        dispatcher, now = self._dispatcher, self._now()
        plans = [_gathering(dispatcher, ticket, plan) for ticket, plan in dispatcher.waiting.gathering(now)]
        if not dry_run:
            self._obey(dispatcher.defragment(now))
        return plans

    def allocate(self, wish: MemoryWish) -> Allocation:
        """Hold memory for a request that others serve. Raises PointsmanError."""
        allocation = self._dispatcher.allocate(wish, self._now())
        self._obey([])  # the brain is to be woken when the lease ends
        return allocation

    def renew(self, renewal: Renewal) -> Allocation:
        """Let such a lease end at another time. Raises PointsmanError."""
        allocation = self._dispatcher.renew(renewal.lease, renewal.ttl_s, self._now())
        self._obey([])
        return allocation

    def release(self, lease: str) -> None:
        """End such a lease. Raises PointsmanError, and then nothing has changed."""
        self._obey(self._dispatcher.release(lease, self._now()))

    def warm(self, wish: WarmWish) -> list[WarmUp]:
        """Have nodes compute a prompt ahead. Raises PointsmanError."""
        orders = self._warm(wish.path, msgspec.json.encode(wish.request), wish.nodes)
        return [WarmUp(order.node.name, order.tokens) for order in orders]

    def pin(self, wish: PinWish, *, keep: bool) -> list[Pinned]:
        """Have nodes keep a prompt cached, or no longer, however its client writes it. Raises PointsmanError."""
        *others, last = _forms(wish.request)
        for form in others:
            with suppress(Conflict):
                if orders := self._pin(wish.path, form, wish.nodes, keep=keep):
                    return _pinned(orders)
        return _pinned(self._pin(wish.path, last, wish.nodes, keep=keep))

    def decisions(self, n: int, model: str | None) -> list[Decision]:
        """The newest `n` decisions."""
        return self._decisions.last(n, model)

    def stories_of(self, request_id: str) -> list[Story]:
        """What became of the requests of that id. Raises LookupError if nothing is remembered."""
        found = self._stories.of(request_id)
        if not found:
            raise LookupError(_FORGOTTEN.format(request_id))
        return found

    def policies(self) -> list[PolicyInUse]:
        """The policy of each scope."""
        specs = {scope: PolicySpec.of(policy) for scope, policy in self._dispatcher.policies.scopes().items()}
        return [PolicyInUse(scope, spec.name, spec.parameters) for scope, spec in specs.items()]

    def set_policy(self, change: PolicyChange) -> list[PolicyInUse]:
        """Let another policy decide from now on. Raises ValueError, which says what is allowed."""
        policy = None if change.policy is None else build(change.policy, change.parameters)
        self._obey(self._dispatcher.set_policy(change.scope, policy, self._now()))
        return self.policies()

    def _node(self, name: str, state: str, columns: dict[str, Any]) -> Node:
        fleet = self._dispatcher.fleet
        row = fleet.row_of[name]
        spec = fleet.spec(row)
        counts = {key: int(columns.pop(key)) for key in ("outstanding", "running")}
        return Node(
            id=name,
            url=spec.url,
            rank=spec.rank,
            engine=spec.engine,
            models=sorted(fleet.models[row]),
            state=state,
            **counts,
            **columns,
        )


def _gathering(dispatcher: Dispatcher, ticket: Ticket, plan: Plan) -> Gathering:
    return Gathering(
        request=ticket.request.id,
        node=dispatcher.fleet.spec(plan.row).name,
        moved=[dispatcher.lives.leases[lease].ticket.request.id for lease in plan.leases],
        blocks=plan.blocks,
        seconds=plan.seconds,
    )


def _forms(request: msgspec.Raw) -> list[bytes]:
    """A body as it was written and without white space, as OpenAI's clients write it; once if these are the same."""
    written = bytes(request)
    return list(dict.fromkeys((written, msgspec.json.encode(msgspec.json.decode(written)))))


def _pinned(orders: Sequence[Instruct]) -> list[Pinned]:
    return [Pinned(order.node.name, _links(order)) for order in orders]


def _links(order: Instruct) -> int:
    return sum(len(one.links) for one in order.commands if isinstance(one, Pin | Unpin))
