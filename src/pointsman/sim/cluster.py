"""Nodes, and the gateways before them, each with its own view of them.

What a node does to a sequence is told to the gateway that sent it. Clients come to the gateways in turn, or by their
session. Nothing here lets gateways hear of each other.
"""

from collections.abc import Callable, Container, Sequence
from zlib import crc32

from pointsman.brain.model.orders import Warm
from pointsman.brain.model.request import Request
from pointsman.engine.kv_events import KvEventBatch
from pointsman.engine.sequence import Sequence as EngineSequence
from pointsman.sim.brain import Brain
from pointsman.sim.delays import Delays
from pointsman.sim.exchange import Exchange
from pointsman.sim.fleet import Node
from pointsman.sim.gateway import Ended, Gateway
from pointsman.sim.kv_events import EventDelays, Listener
from pointsman.sim.loop import Loop
from pointsman.sim.node import SimNode
from pointsman.workload.runs import divided

Spread = Callable[[int, str], int]
"""Which gateway a request comes to, by its number in order of sending and its session; any whole number will do."""


def in_turn(number: int, session: str) -> int:  # noqa: ARG001 - one of two ways
    """One request after the other to the next gateway, as a balancer before them would."""
    return number


def by_session(number: int, session: str) -> int:
    """A session always to the same gateway, as long as its connection would; requests without one in turn."""
    return crc32(session.encode()) if session else number


class Cluster:
    """Nodes and gateways. `rested` is called whenever no request is open at any gateway; `exact` nodes step singly.

    `tries`: the gateway and lease behind each sequence that is under way, by its key. `warm_ups`: the same for those
    that only warm a node, with its name and the number of the order.
    """

    def __init__(
        self,
        loop: Loop,
        dispatchers: Sequence[Brain],
        nodes: Sequence[Node],
        delays: Delays,
        ended: Ended,
        rested: Callable[[], None],
        spread: Spread = in_turn,
        exact: Container[str] = (),
    ) -> None:
        self.nodes = {
            node.name: SimNode(node, loop, self._seen, self._ended, self._published, exact=node.name in exact)
            for node in nodes
        }
        self.gateways = [Gateway(loop, each, self, delays, ended, self._look_for_rest) for each in dispatchers]
        self._loop = loop
        self._rested = rested
        self._spread = spread
        self._sent = 0
        self._made = 0
        self.tries: dict[str, tuple[Gateway, int]] = {}
        self.warm_ups: dict[str, tuple[Gateway, str, int]] = {}

    @property
    def at_rest(self) -> bool:
        """Whether every request is over, for its client and for its gateway."""
        return all(gateway.at_rest for gateway in self.gateways)

    def join(self) -> None:
        """All gateways get to know all nodes."""
        for gateway in self.gateways:
            gateway.join([node.node.spec for node in self.nodes.values()])

    def listen(self, delays: EventDelays, seed: int) -> None:
        """All gateways hear the KV events of the nodes that report, each with losses of its own."""
        reporting = [node.node for node in self.nodes.values() if node.node.spec.residency == "reported"]
        for number, gateway in enumerate(self.gateways if reporting else ()):
            gateway.listener = Listener(self._loop, delays, seed + number, reporting[0].block_tokens, gateway.told)
            for node in reporting:
                gateway.listener.follow(node.name)

    # What clients do

    def submit(self, exchange: Exchange) -> None:
        """A client sends its request."""
        exchange.gateway = self._spread(self._sent, exchange.request.session) % len(self.gateways)
        self._sent += 1
        self.gateways[exchange.gateway].submit(exchange)

    def cancel(self, exchange: Exchange) -> None:
        """A client leaves whose request is not over."""
        self.gateways[exchange.gateway].cancel(exchange)

    # What happens to nodes

    def kill(self, name: str) -> None:
        """The node's process dies, and every connection to it breaks."""
        self.nodes[name].kill()
        for gateway in self.gateways:
            for lease, exchange in gateway.tries_on(name):
                if self.abort(exchange):
                    gateway.broke(lease)
        for key, (gateway, node, number) in tuple(self.warm_ups.items()):
            if node == name:
                del self.warm_ups[key]
                gateway.warmed(number, ok=False)

    def stop(self, name: str, until: float) -> None:
        """The node stands still until then, when it is to be told to go on."""
        self.nodes[name].stand_still(until)
        for gateway in self.gateways:
            for lease, _ in gateway.tries_on(name):
                gateway.fell_silent(lease, until)

    def drain(self, name: str, within_s: float | None = None) -> None:
        """All gateways are told to give the node nothing new, and perhaps to empty it within some time."""
        for gateway in self.gateways:
            gateway.drain(name, within_s)

    def undrain(self, name: str) -> None:
        """All gateways are told that it may work again."""
        for gateway in self.gateways:
            gateway.undrain(name)

    # Between gateways and nodes

    def send(self, gateway: Gateway, lease: int, exchange: Exchange, node: SimNode) -> EngineSequence:
        """A sequence for the exchange, or for what it still lacks; the gateway will hear of it under `lease`."""
        self._made += 1
        key = str(self._made)
        self.tries[key] = gateway, lease
        ask, had = exchange.ask, exchange.delivered_tokens
        runs = ask.runs(node.node.block_tokens)
        prompt, output = ask.prompt_tokens + had, ask.output_tokens - had
        sequence = EngineSequence(key, prompt, output, priority=exchange.engine_priority, runs=runs)
        if node.node.spec.residency == "commanded":
            _name(sequence, exchange.request)
        return sequence

    def warm(self, gateway: Gateway, order: Warm, exchange: Exchange) -> bool:
        """Send the beginning of the exchange's prompt; the gateway will hear of it. False where the node is dead."""
        node = self.nodes[order.node.name]
        if not node.alive:
            return False
        self._made += 1
        key = str(self._made)
        self.warm_ups[key] = gateway, order.node.name, order.warm
        size = node.node.block_tokens
        runs = divided(exchange.ask.runs(size), 1, order.tokens // size)
        sequence = EngineSequence(key, order.tokens, 1, priority=exchange.engine_priority, runs=runs)
        if node.node.spec.residency == "commanded":
            _name(sequence, exchange.request, order.links)
        node.submit(sequence)
        return True

    def abort(self, exchange: Exchange) -> bool:
        """End the exchange's sequence on its node; False if it has none there any more."""
        sequence = exchange.sequence
        if sequence is None or not self.nodes[exchange.node].abort(sequence):
            return False
        del self.tries[sequence.key]
        return True

    def _seen(self, sequence: EngineSequence, tokens: int) -> None:
        if sequence.key in self.warm_ups:
            return
        gateway, lease = self.tries[sequence.key]
        gateway.seen(lease, tokens)

    def _published(self, node: str, batch: KvEventBatch) -> None:
        for gateway in self.gateways:
            if gateway.listener is not None:
                gateway.listener.published(node, batch)

    def _ended(self, sequence: EngineSequence) -> None:
        warm_up = self.warm_ups.pop(sequence.key, None)
        if warm_up is not None:
            warm_up[0].warmed(warm_up[2], ok=True)
            return
        gateway, lease = self.tries.pop(sequence.key)
        gateway.ended(lease)

    def _look_for_rest(self) -> None:
        if self.at_rest:
            self._rested()


def _name(sequence: EngineSequence, request: Request, links: int | None = None) -> None:
    """Let the engine know what orders will call the blocks of the first `links` links, or all, of the prompt."""
    sequence.request = request.id
    if request.chain is not None:
        sequence.links = tuple(request.chain.links[:links])
