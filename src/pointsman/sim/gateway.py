"""A simulated gateway: executes a dispatcher's orders on simulated nodes and tells it what a gateway would see.

Of a streamed answer that is its first token, every sixteenth after it, and the end with the engine's usage; of a plain
one the end alone. A node's load is known from probes only, asked for when the dispatcher orders them. All of that is
heard `feedback_s` or `report_s` after it happened; clients are answered at once. As in the gateway, a stream without
its first token is given up when the patience that came with its order is over, one that has begun when it is silent
for too long, and a node that was killed refuses connections. Where a stream is to go on after that, the next node is
asked for what the client lacks, behind the prompt and what it has.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from typing import Protocol

from pointsman.brain.life.resume import interrupts
from pointsman.brain.model.commands import Obeyed
from pointsman.brain.model.kv_events import CacheChange
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.orders import Abort, Instruct, Order, Probe, Refuse, Start, Tell, Wait, Warm
from pointsman.brain.model.outcome import CANCELLED, Outcome, Verdict
from pointsman.brain.model.reports import NodeReport
from pointsman.brain.model.sharing import PeerReport, Share
from pointsman.engine.sequence import Sequence as EngineSequence
from pointsman.sim.brain import Brain
from pointsman.sim.delays import Delays
from pointsman.sim.exchange import Exchange
from pointsman.sim.kv_events import Listener
from pointsman.sim.loop import Loop, Rank
from pointsman.sim.node import TOKENS_EVERY, SimNode

PROBE_S = 5.0
"""How long a probe is waited for: the gateway's `timeouts.probe_s`."""
SILENCE_S = 60.0
"""Of a stream that has begun: the gateway's `timeouts.between_tokens_s`."""

_OF_TICKETS = (Start, Wait, Refuse)

Ended = Callable[[Exchange, str], None]
"""Called when an exchange is over for its client: with the code of the error, or ""."""


class Wires(Protocol):
    """What connects gateways with nodes: it tells each what comes of its tries."""

    @property
    def nodes(self) -> Mapping[str, SimNode]: ...

    def send(self, gateway: "Gateway", lease: int, exchange: Exchange, node: SimNode) -> EngineSequence:
        """A new sequence for the exchange, of which the gateway will hear under `lease`."""
        ...

    def abort(self, exchange: Exchange) -> bool:
        """End the exchange's sequence on its node; False if it has none there any more."""
        ...

    def warm(self, gateway: "Gateway", order: Warm, exchange: Exchange) -> bool:
        """Send the beginning of the exchange's prompt; the gateway will hear of it. False where the node is dead."""
        ...


class Gateway:
    """Between a dispatcher and nodes. `rested` is called whenever no request is open here any more.

    `listener` hears the nodes' KV events, where there are any.
    """

    def __init__(
        self,
        loop: Loop,
        dispatcher: Brain,
        wires: Wires,
        delays: Delays,
        ended: Ended,
        rested: Callable[[], None],
    ) -> None:
        self.dispatcher = dispatcher
        self._loop = loop
        self._wires = wires
        self._delays = delays
        self._tell_client = ended
        self._rested = rested
        self._open: dict[int, Exchange] = {}
        self._leases: dict[int, Exchange] = {}
        self._probing: set[str] = set()
        self._alarm = inf
        self.listener: Listener | None = None

    @property
    def at_rest(self) -> bool:
        """Whether every request is over, for its client and for the dispatcher."""
        return not self._open

    def join(self, specs: Sequence[NodeSpec]) -> None:
        """The dispatcher gets to know the nodes."""
        for spec in specs:
            self._execute(self.dispatcher.add_node(spec, self._loop.now))

    def submit(self, exchange: Exchange) -> None:
        """A client sends its request."""
        orders = self.dispatcher.submit(exchange.request, self._loop.now)
        first = orders[0]
        assert isinstance(first, Start | Wait | Refuse)
        exchange.ticket = first.ticket
        self._open[first.ticket] = exchange
        self._execute(orders)

    def cancel(self, exchange: Exchange) -> None:
        """The client leaves. Its request must not be over for it yet."""
        self._wires.abort(exchange)
        self._leases.pop(exchange.lease, None)
        orders = self.dispatcher.cancel(exchange.ticket, self._loop.now)
        self._close(exchange, CANCELLED.reason)
        self._execute(orders)

    def drain(self, node: str, within_s: float | None = None) -> None:
        """An operator has the node get nothing new, and perhaps be empty within some time."""
        now, brain = self._loop.now, self.dispatcher
        self._execute(brain.drain(node, now) if within_s is None else brain.drain_within(node, within_s, now))

    def undrain(self, node: str) -> None:
        """An operator lets the node work again."""
        self._execute(self.dispatcher.undrain(node, self._loop.now))

    def share(self) -> Share | None:
        """What the other gateways are to hear, if anything."""
        told = [order.share for order in self.dispatcher.share(self._loop.now) if isinstance(order, Tell)]
        return told[0] if told else None

    def hear(self, report: PeerReport) -> None:
        """What the other gateways told."""
        self._execute(self.dispatcher.hear(report, self._loop.now))

    def tries_on(self, node: str) -> Iterator[tuple[int, Exchange]]:
        """Leases whose connections to the node are open."""
        return ((lease, one) for lease, one in tuple(self._leases.items()) if one.node == node)

    # Orders

    def _execute(self, orders: Sequence[Order]) -> None:
        for order in orders:
            if isinstance(order, Start):
                self._start(order)
            elif isinstance(order, Refuse):
                self._close(self._open[order.ticket], order.error.code)
            elif isinstance(order, Abort):
                self._stop(order.lease, order.why, verdict=Verdict.INTERRUPTED if order.interrupts else Verdict.FAIL)
            elif isinstance(order, Probe):
                self._probe(order.node)
            elif isinstance(order, Warm):
                self._warm(order)
            elif isinstance(order, Instruct):
                self._instruct(order)
        self._set_alarm()

    def _start(self, order: Start) -> None:
        exchange, lease = self._open[order.ticket], order.lease
        node = self._wires.nodes[order.node.name]
        sequence = self._wires.send(self, lease, exchange, node)
        exchange.begin(order.node.name, lease, sequence, self._loop.now)
        self._leases[lease] = exchange
        if not node.alive:
            self._loop.at(self._loop.now, Rank.HEARD, self._refused, lease)
            return
        node.submit(sequence)
        if exchange.request.stream:
            self._loop.at(self._loop.now + order.first_token_s, Rank.HEARD, self._give_up, lease)

    def _warm(self, order: Warm) -> None:
        exchange = self._open.get(order.ticket)
        if exchange is None or not self._wires.warm(self, order, exchange):
            self.warmed(order.warm, ok=False)

    def _instruct(self, order: Instruct) -> None:
        """Have it carried out at once: an order overtakes the requests that an engine has not looked at yet."""
        answer = self._wires.nodes[order.node.name].carry_out(order.commands)
        report = Obeyed(number=order.number, ok=False, reason="no answer")
        if answer is not None:
            report = Obeyed(number=order.number, ok=True, done=answer.done, lost=answer.lost)
        self._loop.at(self._loop.now + self._delays.feedback_s, Rank.HEARD, self._heard_obeyed, report)

    def _stop(self, lease: int, why: str, status: int = 502, verdict: Verdict = Verdict.FAIL) -> None:
        """End a try, unless the node is through with it: then its end is on its way."""
        exchange = self._leases.get(lease)
        if exchange is None:
            self._execute(self.dispatcher.finished(lease, CANCELLED, self._loop.now))
            return
        if self._wires.abort(exchange):
            self._failed(lease, why, status, verdict=verdict)

    def _probe(self, spec: NodeSpec) -> None:
        """Ask a node how it is, unless that is under way."""
        node, now = self._wires.nodes[spec.name], self._loop.now
        if spec.name in self._probing:
            return
        self._probing.add(spec.name)
        if not node.alive:
            self._answered(NodeReport(node=spec.name, ok=False, reason="refused"))
        elif node.still_until is None:
            self._answered(node.report(self._delays.report_s))
        elif node.still_until > now + PROBE_S:
            report = NodeReport(node=spec.name, ok=False, reason="timeout", seconds=PROBE_S)
            self._loop.at(now + PROBE_S, Rank.HEARD, self._answered, report)
        else:
            self._loop.at(node.still_until, Rank.HEARD, self._answers_late, (node, now))

    def _answers_late(self, asked: tuple[SimNode, float]) -> None:
        node, when = asked
        self._answered(node.report(self._delays.report_s + self._loop.now - when))

    def _answered(self, report: NodeReport) -> None:
        self._loop.at(self._loop.now + self._delays.report_s, Rank.HEARD, self._heard_report, report)

    # What becomes of tries, at the moment it happens

    def seen(self, lease: int, tokens: int) -> None:
        """A sequence got its 1st, 17th, 33rd... token."""
        exchange = self._leases.get(lease)
        if exchange is not None and exchange.request.stream:
            if tokens == 1:
                exchange.saw_first(self._loop.now)
            heard = self._heard_first if tokens == 1 else self._heard_tokens
            self._loop.at(self._loop.now + self._delays.feedback_s, Rank.HEARD, heard, lease)

    def ended(self, lease: int) -> None:
        """A sequence got its last token."""
        self._loop.at(self._loop.now + self._delays.feedback_s, Rank.HEARD, self._heard_end, lease)
        self._tell_client(self._leases[lease], "")

    def warmed(self, warm: int, *, ok: bool) -> None:
        """A warm-up ended."""
        self._loop.at(self._loop.now + self._delays.feedback_s, Rank.HEARD, self._heard_warmed, (warm, ok))

    def broke(self, lease: int) -> None:
        """The connection was reset, and the sequence is gone."""
        self._loop.at(self._loop.now + self._delays.feedback_s, Rank.HEARD, self._heard_reset, lease)

    def fell_silent(self, lease: int, until: float) -> None:
        """The node stands still until then: if that is too long, a stream that has begun is given up."""
        patient_until = self._loop.now + SILENCE_S
        if self._leases[lease].begun and until > patient_until:
            self._loop.at(patient_until, Rank.HEARD, self._miss_tokens, lease)

    # What the gateway hears of it

    def _heard_first(self, lease: int) -> None:
        self._execute(self.dispatcher.first_token(lease, self._loop.now))

    def _heard_tokens(self, lease: int) -> None:
        self._execute(self.dispatcher.tokens(lease, TOKENS_EVERY, self._loop.now))

    def _heard_end(self, lease: int) -> None:
        exchange = self._leases.pop(lease)
        sequence = exchange.sequence
        assert sequence is not None
        outcome = Outcome(
            verdict=Verdict.OK,
            prompt_tokens=exchange.ask.prompt_tokens,
            completion_tokens=exchange.answer_tokens,
            cached_tokens=sequence.cached_tokens,
        )
        del self._open[exchange.ticket]
        self._execute(self.dispatcher.finished(lease, outcome, self._loop.now))
        self._look_for_rest()

    def _heard_warmed(self, ended: tuple[int, bool]) -> None:
        self._execute(self.dispatcher.warmed(*ended, self._loop.now))

    def _heard_obeyed(self, report: Obeyed) -> None:
        self._execute(self.dispatcher.obeyed(report, self._loop.now))

    def _heard_reset(self, lease: int) -> None:
        if lease in self._leases:
            self._failed(lease, "reset", 502)

    def _heard_report(self, report: NodeReport) -> None:
        self._probing.discard(report.node)
        self._execute(self.dispatcher.report(report, self._loop.now))
        if self.listener is not None:
            self.listener.probed(report.node, report.started_at)

    def told(self, change: CacheChange) -> None:
        """What a node's KV events come to."""
        self._execute(self.dispatcher.kv_event(change, self._loop.now))

    def _refused(self, lease: int) -> None:
        if lease in self._leases:
            self._wires.abort(self._leases[lease])
            self._failed(lease, "refused", 502, free=True)

    def _give_up(self, lease: int) -> None:
        exchange = self._leases.get(lease)
        if exchange is not None and not exchange.begun:
            self._stop(lease, "token_timeout" if exchange.delivered else "first_token_timeout", 504)

    def _miss_tokens(self, lease: int) -> None:
        if lease in self._leases:
            self._stop(lease, "token_timeout", 504)

    def _failed(
        self, lease: int, why: str, status: int, *, free: bool = False, verdict: Verdict = Verdict.FAIL
    ) -> None:
        """A try is over, and its request is not: the dispatcher says what becomes of that.

        Where it says nothing, the client has a part of its answer and will get no more.
        """
        exchange = self._leases.pop(lease)
        resumable = exchange.delivered and exchange.request.resumable
        outcome = Outcome(
            verdict=verdict, reason=why, status=status, delivered=exchange.delivered, free=free,
            resumable=resumable, new_tokens=exchange.new_tokens if resumable else 0,
        )  # fmt: skip
        orders = self.dispatcher.finished(lease, outcome, self._loop.now)
        goes_on = any(isinstance(order, _OF_TICKETS) and order.ticket == exchange.ticket for order in orders)
        if goes_on and interrupts(outcome):
            exchange.interruptions += 1
        if goes_on and resumable and exchange.sequence is not None:
            exchange.keep(self._wires.nodes[exchange.node].last_token_s(exchange.sequence))
        self._execute(orders)
        if not goes_on:
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
        due = self.dispatcher.next_deadline()
        if due is not None and due < self._alarm:
            self._alarm = due
            self._loop.at(max(due, self._loop.now), Rank.BRAIN, self._wake, due)

    def _wake(self, due: float) -> None:
        if due == self._alarm:
            self._alarm = inf
            self._execute(self.dispatcher.tick(self._loop.now))
