"""One cell's own part of the world: a model, two nodes that serve it, and the requests made of it."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Self

from xxhash import xxh3_64_intdigest

from pointsman.brain.model.node import NodeSpec, NodeState
from pointsman.brain.model.orders import Order

from .cells import AT_THE_DOOR, ON_CONNECTIONS, STRAY, Cell, Fault, Phase
from .client import Client
from .engines import TOKEN_MS, EngineProcess
from .expected import expected
from .node import Node, Plan
from .strikes import stray
from .world import World, model_name, until

TOKENS = 8
LIMIT_MS = 700
"""The client's own limit where nothing else ends a plain request."""
_EARLIEST = {
    Fault.REFUSED: Phase.CONNECTING,
    Fault.SLOW_TOKENS: Phase.AFTER_HEADERS,
    Fault.CUT_CHUNK: Phase.AFTER_HEADERS,
    Fault.IN_BAND: Phase.AFTER_HEADERS,
}


class Stage:
    """Nodes `a`, chosen first and struck, and `b`; `clients` are all requests made."""

    def __init__(self, world: World, number: int, cell: Cell) -> None:
        self.world = world
        self.cell = cell
        self.model = model_name(number)
        self.clients: list[Client] = []
        self.prompts: dict[str, tuple[str, int]] = {}
        self.plan = Plan(cell.fault, cell.phase)
        self.nodes: list[Node] = []
        self._stack = AsyncExitStack()
        self._reading: list[asyncio.Task[None]] = []
        self._victim: EngineProcess | None = None

    async def __aenter__(self) -> Self:
        try:
            await self._open()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._reading:
            task.cancel()
        self.world.gateway.driver.call(self._remove_nodes)
        await self._stack.aclose()
        if self._victim is not None:
            self.world.engines.stoppable.put_nowait(self._victim)

    def engines_late_s(self) -> float:
        """How much longer than usual an engine, if it was not stopped, took for anything it was asked."""
        waits = [relay.engine_s for node in self.nodes if node.engine is not self._victim for relay in node.relays]
        return max(waits, default=0.0) - TOKENS * TOKEN_MS / 1000.0

    # Requests

    async def ask(self, role: str, tokens: int = TOKENS, *, stream: bool | None = None, limit_ms: int = 0) -> Client:
        """Send a request of the cell and begin to read its answer."""
        client = Client(self.world.gateway.port, self._id(role))
        prompt = f"{self.cell} ({role})"
        self.prompts[client.id] = prompt, tokens
        self.clients.append(client)
        streamed = self.cell.stream if stream is None else stream
        body = {
            "model": self.model,
            "messages": [{"role": "user", "content": prompt}],
            "max_tokens": tokens,
            "ignore_eos": True,
            "stream": streamed,
        }
        await client.ask(body, limit_ms)
        self._reading.append(asyncio.ensure_future(client.read()))
        return client

    async def subject(self) -> Client:
        """Make ready, send the request under test, and let the fault come over the nodes at its moment."""
        phase = self.cell.phase
        if phase is Phase.QUEUED:
            return await self._queued()
        if phase is Phase.IDLE:
            return await self._over_idle()
        self.arm(Plan(self.cell.fault, phase, self._id("subject")))
        if phase is Phase.CONNECTING:
            await self._at_the_door()
        return await self._ask_subject()

    def arm(self, plan: Plan) -> None:
        """Let the fault of `plan` come over the nodes that are to have it."""
        self.plan = plan
        for node in self._bad():
            node.plan = plan

    async def heal(self) -> None:
        """End the fault."""
        for node in self.nodes:
            await node.heal()

    # Inside

    async def _open(self) -> None:
        if self.cell.fault is Fault.STOPPED:
            self._victim = await self.world.engines.stoppable.get()
        names = sorted((f"{self.model}-one", f"{self.model}-other"), key=_identity)
        for name, bad in zip(names, (True, self.cell.everywhere), strict=True):
            self.nodes.append(await self._node(name, bad))
        self.a, self.b = self.nodes
        fleet = self.world.dispatcher.fleet
        self.rows = [fleet.row_of[node.name] for node in self.nodes]
        if not await until(lambda: all(fleet.states[row] is NodeState.UP for row in self.rows), 5.0):
            raise RuntimeError("the nodes did not join")

    def _remove_nodes(self, now: float) -> list[Order]:
        return [order for node in self.nodes for order in self.world.dispatcher.remove_node(node.name, now)]

    async def _ask_subject(self) -> Client:
        hangs = expected(self.cell).status == 504 and not self.cell.stream
        client = await self.ask("subject", limit_ms=LIMIT_MS if hangs else 0)
        self.plan.client = client
        return client

    async def _queued(self) -> Client:
        """Both nodes have one slot and a stream on it; `a`'s ends first, unless it is the one that hangs."""
        hangs = self.cell.fault in (Fault.STOPPED, Fault.BLACK_HOLE)
        holder = await self.ask("holder", 50 if hangs else 25, stream=True)
        other = await self.ask("other", 25 if hangs else 70, stream=True)
        await until(lambda: holder.shown() > 1 and other.shown() > 1, 2.0)
        client = await self._ask_subject()
        await until(lambda: bool(self.world.ledger.of(client.id, self.model)), 1.0)
        if not self.cell.leaves:
            await self.strike_queued()
        return client

    async def strike_queued(self) -> None:
        """What was to befall a node while the request waits."""
        fault = self.cell.fault
        bystander = self._id("holder") if fault in ON_CONNECTIONS and fault not in AT_THE_DOOR else ""
        self.arm(Plan(fault, _EARLIEST.get(fault, Phase.BEFORE_HEADERS), bystander=bystander))
        await self._at_the_door()

    async def _at_the_door(self) -> None:
        """Faults of addresses come over them at once."""
        for node in self._bad():
            if self.cell.fault is Fault.REFUSED:
                await node.refuse()
            elif self.cell.fault is Fault.BLACK_HOLE:
                await node.vanish()
        if self.cell.fault in AT_THE_DOOR:
            self.plan.struck.set()

    async def _over_idle(self) -> Client:
        """A first request leaves an idle connection behind; the fault meets that."""
        fault = self.cell.fault
        first = await self.ask("first", 2)
        await until(lambda: first.ended, 5.0)
        idle = self.a.idle()
        if fault in AT_THE_DOOR:
            await self._at_the_door()
        elif fault is Fault.FIN:
            idle[0].finish()
            self.plan.struck.set()
        elif fault in STRAY:
            idle[0].write(stray(fault))
            if not await until(idle[0].gone.is_set, 1.0):
                raise RuntimeError("a connection that said what nobody asked for was kept")
            self.plan.struck.set()
        else:
            phase = Phase.AFTER_HEADERS if fault is Fault.SLOW_TOKENS else Phase.BEFORE_HEADERS
            self.arm(Plan(fault, phase, once=True))
        return await self._ask_subject()

    def _id(self, role: str) -> str:
        return f"{self.world.name}-{self.model}-{role}"

    def _bad(self) -> Sequence[Node]:
        return self.nodes if self.cell.everywhere else self.nodes[:1]

    async def _node(self, name: str, bad: bool) -> Node:
        engines = self.world.engines
        engine = self._victim if bad and self._victim is not None else engines.running
        holes = engines.black_holes if bad and self.cell.fault is Fault.BLACK_HOLE else None
        node = await self._stack.enter_async_context(Node(name, engine, holes))
        slots = 1 if self.cell.phase is Phase.QUEUED else 16
        spec = NodeSpec(url=node.url, id=name, models=(self.model,), slots=slots, kv_tokens=65536)
        self.world.gateway.add_node(spec)
        return node


def _identity(name: str) -> int:
    """The number the fleet makes of a node's name; the world's policy goes by it."""
    return xxh3_64_intdigest(name.encode()) >> 11
