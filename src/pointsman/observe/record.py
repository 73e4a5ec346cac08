"""A journal of everything the dispatcher was told, so that its decisions can be made again elsewhere.

Strategy: the dispatcher is a function of its calls and their time stamps; it reads no clock and draws no hidden
randomness. So the journal is the list of calls, one JSON line each, with what they started. `Journaled`
stands in front of a dispatcher with the same methods; a call that raises changed nothing and is not written. Reading
methods pass through untouched. A journal that cannot be written, on a full disk perhaps, ends there: requests go on.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

import pointsman
from pointsman.brain.dispatcher import Dispatcher
from pointsman.brain.model.commands import Obeyed
from pointsman.brain.model.kv_events import CacheChange
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.orders import Order, Start
from pointsman.brain.model.outcome import Outcome
from pointsman.brain.model.outside import Allocation, MemoryWish
from pointsman.brain.model.reports import ClientReport, NodeReport
from pointsman.brain.model.request import Request
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.model.sharing import PeerReport
from pointsman.brain.policies.base import Policy
from pointsman.brain.policies.table import PolicyTable
from pointsman.observe import calls
from pointsman.observe.calls import Begin, Call, Entry, PolicySpec, Started

Sink = Callable[[bytes], Any]
"""Takes one line, its newline included; a binary file's `write` will do."""

_encode = msgspec.json.Encoder().encode
_log = logging.getLogger("pointsman")


def begin(settings: BrainSettings, policies: PolicyTable, now: float) -> Begin:
    """What a dispatcher made from these values, at `now`, needs to be made again."""
    scopes = {scope: PolicySpec.of(policy) for scope, policy in policies.scopes().items()}
    return Begin(pointsman.__version__, settings, scopes, now)


class Journaled:
    """A dispatcher that writes down what it is told, and first how it was made. Same methods, same answers."""

    def __init__(self, dispatcher: Dispatcher, how: Begin, sink: Sink) -> None:
        self._dispatcher = dispatcher
        self._sink = sink
        self._write(how, [])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dispatcher, name)

    def _write(self, call: Call, orders: list[Order]) -> None:
        try:
            self._sink(_encode(Entry(call, started(orders))) + b"\n")
        except OSError as error:
            self._sink = _nowhere
            _log.error("the journal ends here: %s", error)

    def add_node(self, spec: NodeSpec, now: float) -> list[Order]:
        orders = self._dispatcher.add_node(spec, now)
        self._write(calls.AddNode(spec, now), orders)
        return orders

    def declare_node(self, spec: NodeSpec, now: float) -> list[Order]:
        orders = self._dispatcher.declare_node(spec, now)
        self._write(calls.DeclareNode(spec, now), orders)
        return orders

    def remove_node(self, node: str, now: float) -> list[Order]:
        orders = self._dispatcher.remove_node(node, now)
        self._write(calls.RemoveNode(node, now), orders)
        return orders

    def drain(self, node: str, now: float) -> list[Order]:
        orders = self._dispatcher.drain(node, now)
        self._write(calls.Drain(node, now), orders)
        return orders

    def drain_within(self, node: str, limit_s: float, now: float) -> list[Order]:
        orders = self._dispatcher.drain_within(node, limit_s, now)
        self._write(calls.DrainWithin(node, limit_s, now), orders)
        return orders

    def interrupt(self, lease: int, why: str, now: float) -> list[Order]:
        orders = self._dispatcher.interrupt(lease, why, now)
        self._write(calls.Interrupt(lease, why, now), orders)
        return orders

    def defragment(self, now: float) -> list[Order]:
        orders = self._dispatcher.defragment(now)
        self._write(calls.Defragment(now), orders)
        return orders

    def undrain(self, node: str, now: float) -> list[Order]:
        orders = self._dispatcher.undrain(node, now)
        self._write(calls.Undrain(node, now), orders)
        return orders

    def set_weight(self, node: str, weight: float, now: float) -> list[Order]:
        orders = self._dispatcher.set_weight(node, weight, now)
        self._write(calls.SetWeight(node, weight, now), orders)
        return orders

    def set_policy(self, scope: str, policy: Policy | None, now: float) -> list[Order]:
        orders = self._dispatcher.set_policy(scope, policy, now)
        self._write(calls.SetPolicy(scope, PolicySpec.of(policy) if policy else None, now), orders)
        return orders

    def configure(self, settings: BrainSettings, now: float) -> list[Order]:
        orders = self._dispatcher.configure(settings, now)
        self._write(calls.Configure(settings, now), orders)
        return orders

    def submit(self, request: Request, now: float) -> list[Order]:
        orders = self._dispatcher.submit(request, now)
        self._write(calls.Submit(request, now), orders)
        return orders

    def cancel(self, ticket: int, now: float) -> list[Order]:
        orders = self._dispatcher.cancel(ticket, now)
        self._write(calls.Cancel(ticket, now), orders)
        return orders

    def first_token(self, lease: int, now: float) -> list[Order]:
        orders = self._dispatcher.first_token(lease, now)
        self._write(calls.FirstToken(lease, now), orders)
        return orders

    def tokens(self, lease: int, count: int, now: float) -> list[Order]:
        orders = self._dispatcher.tokens(lease, count, now)
        self._write(calls.Tokens(lease, count, now), orders)
        return orders

    def finished(self, lease: int, outcome: Outcome, now: float) -> list[Order]:
        orders = self._dispatcher.finished(lease, outcome, now)
        self._write(calls.Finished(lease, outcome, now), orders)
        return orders

    def report(self, report: NodeReport, now: float) -> list[Order]:
        orders = self._dispatcher.report(report, now)
        self._write(calls.Report(report, now), orders)
        return orders

    def kv_event(self, change: CacheChange, now: float) -> list[Order]:
        orders = self._dispatcher.kv_event(change, now)
        self._write(calls.KvEvent(change, now), orders)
        return orders

    def feedback(self, report: ClientReport, now: float) -> list[Order]:
        orders = self._dispatcher.feedback(report, now)
        self._write(calls.Feedback(report, now), orders)
        return orders

    def warm(self, request: Request, nodes: Sequence[str], now: float) -> list[Order]:
        orders = self._dispatcher.warm(request, nodes, now)
        self._write(calls.Warm(request, tuple(nodes), now), orders)
        return orders

    def warmed(self, warm: int, ok: bool, now: float) -> list[Order]:
        orders = self._dispatcher.warmed(warm, ok, now)
        self._write(calls.Warmed(warm, ok, now), orders)
        return orders

    def pin(self, request: Request, nodes: Sequence[str], now: float) -> list[Order]:
        orders = self._dispatcher.pin(request, nodes, now)
        self._write(calls.Pin(request, tuple(nodes), now), orders)
        return orders

    def unpin(self, request: Request, nodes: Sequence[str], now: float) -> list[Order]:
        orders = self._dispatcher.unpin(request, nodes, now)
        self._write(calls.Unpin(request, tuple(nodes), now), orders)
        return orders

    def obeyed(self, report: Obeyed, now: float) -> list[Order]:
        orders = self._dispatcher.obeyed(report, now)
        self._write(calls.Obeyed(report, now), orders)
        return orders

    def allocate(self, wish: MemoryWish, now: float) -> Allocation:
        allocation = self._dispatcher.allocate(wish, now)
        self._write(calls.Allocate(wish, now), [])
        return allocation

    def renew(self, lease: str, ttl_s: float, now: float) -> Allocation:
        allocation = self._dispatcher.renew(lease, ttl_s, now)
        self._write(calls.Renew(lease, ttl_s, now), [])
        return allocation

    def release(self, lease: str, now: float) -> list[Order]:
        orders = self._dispatcher.release(lease, now)
        self._write(calls.Release(lease, now), orders)
        return orders

    def share(self, now: float) -> list[Order]:
        orders = self._dispatcher.share(now)
        if orders:  # it is asked for many times a second, and without a word to tell nothing has changed
            self._write(calls.Share(now), orders)
        return orders

    def hear(self, report: PeerReport, now: float) -> list[Order]:
        orders = self._dispatcher.hear(report, now)
        self._write(calls.Hear(report, now), orders)
        return orders

    def tick(self, now: float) -> list[Order]:
        orders = self._dispatcher.tick(now)
        self._write(calls.Tick(now), orders)
        return orders


def _nowhere(_line: bytes) -> None:
    """Where lines go after the first that could not be written: a journal with a gap would replay to nonsense."""


def started(orders: Iterable[Order]) -> list[Started]:
    """The starts among `orders`, in order."""
    return [Started(order.ticket, order.lease, order.node.name) for order in orders if type(order) is Start]
