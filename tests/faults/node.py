"""A node: a fault proxy before an emulated engine. It relays faithfully until its plan says otherwise."""

import asyncio
import socket
from dataclasses import dataclass, field

from .black_hole import BlackHoles
from .cells import BODY, Fault, Phase
from .client import Client
from .engines import EngineProcess
from .peer import Peer, Request
from .relay import Relay
from .strikes import strike_connection


@dataclass(slots=True)
class Plan:
    """`fault` strikes at `phase` of the request `request_id` (of every one if empty), `once` or each time.

    `bystander` is a request under way that is struck besides, at its next piece. Before it strikes what the client has
    seen already, it waits until `client` has. `struck` tells that it happened.
    """

    fault: Fault
    phase: Phase
    request_id: str = ""
    once: bool = False
    bystander: str = ""
    client: Client | None = None
    struck: asyncio.Event = field(default_factory=asyncio.Event)

    def meets(self, request: Request, phase: Phase) -> bool:
        if self.once and self.struck.is_set():
            return False
        if self.bystander and request.id == self.bystander:
            return phase in BODY
        return phase is self.phase and (not self.request_id or request.id == self.request_id)


class Node:
    """An address the gateway knows as a node, as an asynchronous context manager.

    With `black_holes` it listens where packets can vanish. `relays` are the inference requests that came, in order;
    `well` is set when the fault is over.
    """

    def __init__(self, name: str, engine: EngineProcess, black_holes: BlackHoles | None = None) -> None:
        self.name = name
        self.engine = engine
        self.black_holes = black_holes
        self.plan: Plan | None = None
        self.well = asyncio.Event()
        self.relays: list[Relay] = []
        self._peers: set[Peer] = set()
        self._busy: set[Peer] = set()
        self._server: asyncio.Server | None = None
        self._vanished = False

    async def __aenter__(self) -> "Node":
        if self.black_holes is None:
            self.address = "127.0.0.1"
            # Keeps the port while nobody listens on it.
            self._keeper = _bound(self.address, 0)
            self.port = self._keeper.getsockname()[1]
            await self._listen(_bound(self.address, self.port))
        else:
            self.address = self.black_holes.take()
            listener = self.black_holes.listener(self.address)
            self.port = listener.getsockname()[1]
            self._keeper = listener.dup()
            await self._listen(listener)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.heal()
        assert self._server is not None
        self._server.close()
        self._keeper.close()
        await self.hang_up(by_reset=True)
        if self.black_holes is not None:
            self.black_holes.give_back(self.address)

    @property
    def url(self) -> str:
        return f"http://{self.address}:{self.port}"

    async def refuse(self) -> None:
        """Listen no more, and end what is connected."""
        assert self._server is not None
        self._server.close()
        await self.hang_up()

    async def vanish(self) -> None:
        """Be a black hole."""
        assert self.black_holes is not None
        self._vanished = True
        await self.black_holes.vanish(self.address)

    async def heal(self) -> None:
        """Be well again: what was in the way of old connections ends them, new ones are served."""
        self.plan = None
        self.engine.go_on()
        self.well.set()
        if self._vanished:
            assert self.black_holes is not None
            self._vanished = False
            await self.hang_up(by_reset=True)
            await self.black_holes.heal(self.address)
        assert self._server is not None
        if not self._server.is_serving():
            await self._listen(_bound(self.address, self.port))

    async def hang_up(self, *, by_reset: bool = False) -> None:
        """End every connection. Only a reset gives up what could not be sent."""
        for peer in tuple(self._peers):
            peer.reset() if by_reset else peer.finish()
            if peer.task is not None:
                peer.task.cancel()
        await asyncio.gather(*[peer.gone.wait() for peer in tuple(self._peers)])

    def idle(self) -> list[Peer]:
        """Connections on which nothing is being answered."""
        return [peer for peer in self._peers if peer not in self._busy]

    async def _listen(self, listener: socket.socket) -> None:
        self._server = await asyncio.get_running_loop().create_server(lambda: Peer(self._serve), sock=listener)

    async def _serve(self, peer: Peer) -> None:
        self._peers.add(peer)
        try:
            if self.plan is not None and self.plan.phase is Phase.CONNECTING:
                await strike_connection(self, peer, self.plan)
                return
            while True:
                await self._answer(peer, await peer.request())
        except asyncio.CancelledError:
            peer.finish()
        finally:
            self._peers.discard(peer)

    async def _answer(self, peer: Peer, request: Request) -> None:
        relay = Relay(self, peer, request)
        if not request.is_probe:
            self.relays.append(relay)
        self._busy.add(peer)
        try:
            await relay.run()
        finally:
            self._busy.discard(peer)


def _bound(address: str, port: int) -> socket.socket:
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    made.bind((address, port))
    return made
