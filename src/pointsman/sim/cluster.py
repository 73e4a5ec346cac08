"""The simulated gateway: executes the dispatcher's orders on simulated nodes and tells it what a gateway would see.

Of a streamed answer that is its first token, every sixteenth after it, and the end with the engine's usage; of a plain
one the end alone. A node's load is known from probes only, asked for when the dispatcher orders them. All of that is
heard `feedback_s` or `report_s` after it happened; clients are answered at once. As in the gateway, a stream without
its first token is given up when the patience that came with its order is over.
"""

from collections.abc import Callable, Sequence
from math import inf

import msgspec

from pointsman.brain.dispatcher import Dispatcher
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.orders import Abort, Order, Probe, Refuse, Start, Wait
from pointsman.brain.model.outcome import CANCELLED, Outcome, Verdict
from pointsman.brain.model.reports import NodeReport
from pointsman.engine.sequence import Sequence as EngineSequence
from pointsman.sim.exchange import Exchange
from pointsman.sim.fleet import Node
from pointsman.sim.loop import Loop, Rank
from pointsman.sim.node import TOKENS_EVERY, SimNode

Ended = Callable[[Exchange, str], None]
"""Called when an exchange is over for its client: with the code of the error, or ""."""


class Delays(msgspec.Struct, frozen=True):
    """How late (seconds) the gateway hears of tokens and ends, and of probes."""

    feedback_s: float = 0.0
    report_s: float = 0.0


class Cluster:
    """Between a dispatcher and its nodes. `rested` is called whenever no request is open any more."""

    def __init__(
        self,
        loop: Loop,
        dispatcher: Dispatcher,
        nodes: Sequence[Node],
        delays: Delays,
        ended: Ended,
        rested: Callable[[], None],
    ) -> None:
        self.nodes = {node.name: SimNode(node, loop, self._seen, self._ended) for node in nodes}
        self._loop = loop
        self._dispatcher = dispatcher
        self._delays = delays
        self._tell_client = ended
        self._rested = rested
        self._open: dict[int, Exchange] = {}
        self._leases: dict[int, Exchange] = {}
        self._alarm = inf

    @property
    def at_rest(self) -> bool:
        """Whether every request is over, for its client and for the dispatcher."""
        return not self._open

    def join(self) -> None:
        """The dispatcher gets to know all nodes."""
        for node in self.nodes.values():
            self._execute(self._dispatcher.add_node(node.node.spec, self._loop.now))

    def submit(self, exchange: Exchange) -> None:
        """A client sends its request."""
        orders = self._dispatcher.submit(exchange.request, self._loop.now)
        first = orders[0]
        assert isinstance(first, Start | Wait | Refuse)
        exchange.ticket = first.ticket
        self._open[first.ticket] = exchange
        self._execute(orders)

    # Orders

    def _execute(self, orders: Sequence[Order]) -> None:
        for order in orders:
            if isinstance(order, Start):
                self._start(order)
            elif isinstance(order, Refuse):
                self._close(self._open[order.ticket], order.error.code)
            elif isinstance(order, Abort):
                self._stop(order.lease, order.why)
            elif isinstance(order, Probe):
                self._probe(order.node)
        self._set_alarm()

    def _start(self, order: Start) -> None:
        exchange = self._open[order.ticket]
        node = self.nodes[order.node.name]
        ask = exchange.ask
        blocks = ask.blocks(node.node.profile.limits.block_size)
        sequence = EngineSequence(str(order.lease), ask.prompt_tokens, ask.output_tokens, blocks)
        exchange.begin(order.node.name, sequence, self._loop.now)
        self._leases[order.lease] = exchange
        node.submit(sequence)
        if exchange.request.stream:
            self._loop.at(self._loop.now + order.first_token_s, Rank.HEARD, self._give_up, order.lease)

    def _stop(self, lease: int, why: str, status: int = 502) -> None:
        """End a try, unless the node is through with it: then its end is on its way."""
        exchange = self._leases.get(lease)
        if exchange is None:
            self._execute(self._dispatcher.finished(lease, CANCELLED, self._loop.now))
            return
        assert exchange.sequence is not None
        if self.nodes[exchange.node].abort(exchange.sequence):
            self._failed(lease, exchange, why, status)

    def _probe(self, node: NodeSpec) -> None:
        delay = self._delays.report_s
        report = self.nodes[node.name].report(delay)
        self._loop.at(self._loop.now + delay, Rank.HEARD, self._heard_report, report)

    # What nodes do, at the moment it happens

    def _seen(self, sequence: EngineSequence, tokens: int) -> None:
        lease = int(sequence.key)
        if self._leases[lease].request.stream:
            heard = self._heard_first if tokens == 1 else self._heard_tokens
            self._loop.at(self._loop.now + self._delays.feedback_s, Rank.HEARD, heard, lease)

    def _ended(self, sequence: EngineSequence) -> None:
        lease = int(sequence.key)
        self._loop.at(self._loop.now + self._delays.feedback_s, Rank.HEARD, self._heard_end, lease)
        self._tell_client(self._leases[lease], "")

    # What the gateway hears of it

    def _heard_first(self, lease: int) -> None:
        self._execute(self._dispatcher.first_token(lease, self._loop.now))

    def _heard_tokens(self, lease: int) -> None:
        self._execute(self._dispatcher.tokens(lease, TOKENS_EVERY, self._loop.now))

    def _heard_end(self, lease: int) -> None:
        exchange = self._leases.pop(lease)
        sequence = exchange.sequence
        assert sequence is not None
        outcome = Outcome(
            verdict=Verdict.OK,
            prompt_tokens=sequence.prompt_tokens,
            completion_tokens=sequence.generated,
            cached_tokens=sequence.cached_tokens,
        )
        del self._open[exchange.ticket]
        self._execute(self._dispatcher.finished(lease, outcome, self._loop.now))
        self._look_for_rest()

    def _heard_report(self, report: NodeReport) -> None:
        self._execute(self._dispatcher.report(report, self._loop.now))

    def _give_up(self, lease: int) -> None:
        exchange = self._leases.get(lease)
        if exchange is not None and not exchange.delivered:
            self._stop(lease, "first_token_timeout", 504)

    def _failed(self, lease: int, exchange: Exchange, why: str, status: int) -> None:
        """A try failed: unless its client has seen a part of it, the dispatcher says what becomes of the request."""
        del self._leases[lease]
        delivered = exchange.delivered
        outcome = Outcome(verdict=Verdict.FAIL, reason=why, status=status, delivered=delivered)
        self._execute(self._dispatcher.finished(lease, outcome, self._loop.now))
        if delivered:
            self._close(exchange, why)

    def _close(self, exchange: Exchange, problem: str) -> None:
        del self._open[exchange.ticket]
        self._tell_client(exchange, problem)
        self._look_for_rest()

    def _look_for_rest(self) -> None:
        if not self._open:
            self._rested()

    # The dispatcher's own time

    def _set_alarm(self) -> None:
        due = self._dispatcher.next_deadline()
        if due is not None and due < self._alarm:
            self._alarm = due
            self._loop.at(max(due, self._loop.now), Rank.BRAIN, self._wake, due)

    def _wake(self, due: float) -> None:
        if due == self._alarm:
            self._alarm = inf
            self._execute(self._dispatcher.tick(self._loop.now))
