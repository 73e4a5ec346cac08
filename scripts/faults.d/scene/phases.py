"""The phases of a request's life in which its client may leave, and how to be sure that it is in one."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from scene.asks import MODEL, Asks
from scene.client import Answer, Connection, Cut
from scene.hole import Hole
from scene.world import World

QUEUE_MODEL = "queue"
HOLE_MODEL = "hole"
LONG = 2000
"""Tokens of an answer that does not end by itself while the scene looks."""
SLOW = 40.0
"""So much slower is an engine that is to keep silent after its headers."""
SETTLE_S = 0.05
READY_WITHIN_S = 10.0
POLL_S = 0.005


@dataclass(frozen=True, slots=True)
class Party:
    """Clients whose requests are in the same phase; `others` only help to bring them there."""

    connections: list[Connection]
    answers: list[Answer]
    others: tuple[Connection, ...] = ()

    def cut(self, how: Cut) -> None:
        for connection in (*self.connections, *self.others):
            connection.cut(how)


class Stage:
    """Brings parties of clients into phases."""

    def __init__(self, here: World, hole: Hole, asks: Asks) -> None:
        self.here = here
        self.hole = hole
        self.asks = asks

    async def party(self, size: int, *, stream: bool = True, model: str = MODEL) -> Party:
        """So many requests, sent."""
        connections = [await Connection.to(self.here.gateway.port) for _ in range(size)]
        asks = [self.asks.next(stream=stream, tokens=LONG, model=model) for _ in connections]
        return Party(connections, [each.send(ask) for each, ask in zip(connections, asks, strict=True)])

    async def queued(self, size: int) -> Party:
        """The only slot of the only node is taken; each worker of the gateway may take one."""
        everyone = await self.party(size + self.here.plan.workers, model=QUEUE_MODEL)
        async with asyncio.timeout(READY_WITHIN_S):
            while (await self.here.admin.accounts())["requests queued"] + _begun(everyone) < len(everyone.answers):
                await asyncio.sleep(POLL_S)
        pairs = list(zip(everyone.connections, everyone.answers, strict=True))
        waiting = [(connection, answer) for connection, answer in pairs if not answer.begun]
        others = tuple(connection for connection, answer in pairs if answer.begun)
        return Party([connection for connection, _ in waiting], [answer for _, answer in waiting], others)

    async def connecting(self, size: int) -> Party:
        """The node does not complete the handshake."""
        party = await self.party(size, model=HOLE_MODEL)
        await self._until_account("requests outstanding", size)
        await asyncio.sleep(SETTLE_S)
        return party

    async def before_headers(self, size: int) -> Party:
        """The engine has the request and says nothing."""
        for engine in self.here.engines.values():
            await self.here.fault(engine, kind="hang_before_headers")
        return await self._started(await self.party(size))

    async def before_first_byte(self, size: int) -> Party:
        """The engine has sent its headers and no event."""
        for engine in self.here.engines.values():
            await self.here.fault(engine, kind="slow", factor=SLOW)
        return await self._started(await self.party(size))

    async def streaming(self, size: int) -> Party:
        """Some events are with the client."""
        party = await self.party(size)
        await until(lambda: all(len(answer.moments) >= 3 for answer in party.answers))
        return party

    async def plain(self, size: int) -> Party:
        """The engine works on an answer that will come as a whole."""
        return await self._started(await self.party(size, stream=False))

    async def _started(self, party: Party) -> Party:
        audits = self.here.audits

        def all_started() -> bool:
            audits.refresh()
            return all(audits.engine_of(answer.ask.id) for answer in party.answers)

        await until(all_started)
        await asyncio.sleep(SETTLE_S)
        return party

    async def _until_account(self, what: str, value: float) -> None:
        async with asyncio.timeout(READY_WITHIN_S):
            while (await self.here.admin.accounts())[what] < value:
                await asyncio.sleep(POLL_S)


def _begun(party: Party) -> int:
    return sum(answer.begun for answer in party.answers)


async def until(true: Callable[[], bool], within_s: float = READY_WITHIN_S) -> None:
    """Raises TimeoutError."""
    async with asyncio.timeout(within_s):
        while not true():
            await asyncio.sleep(POLL_S)


@dataclass(frozen=True, slots=True)
class Phase:
    """`started`: an engine has the request by then and must be told."""

    name: str
    enter: Callable[[Stage, int], Awaitable[Party]]
    started: bool


PHASES = (
    Phase("connecting", Stage.connecting, False),
    Phase("queued", Stage.queued, False),
    Phase("mid-stream", Stage.streaming, True),
    Phase("non-streamed", Stage.plain, True),
    Phase("before headers", Stage.before_headers, True),
    Phase("before first byte", Stage.before_first_byte, True),
)
"""The slow one is last: its effect lingers."""
