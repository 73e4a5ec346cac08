"""One request through the proxy: the engine's answer taken apart and put together again, with a halt at each phase."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, TypeVar

from .cells import SEEN, Fault, Phase
from .client import Client, amount
from .peer import Peer, Request
from .strikes import LATE_S, Answered, strike
from .upstream import Answer, asked

if TYPE_CHECKING:
    from .node import Node

Result = TypeVar("Result")
_REFRAMED = (Fault.CUT_CHUNK, Fault.IN_BAND, Fault.GARBAGE, Fault.OVERSIZE)


class Relay:
    """`forwarded` is the body as it went to the gateway; `framing` what tells its end.

    From a strike on, `pace` are the seconds before each further piece, `slices` the bytes that leave at once and the
    seconds after each. `engine_s` is the longest time the engine took for anything.
    """

    def __init__(self, node: Node, peer: Peer, request: Request) -> None:
        self.node = node
        self.peer = peer
        self.request = request
        self.forwarded = b""
        self.pace = 0.0
        self.slices: tuple[int, float] | None = None
        self.framing: Literal["", "chunked", "length", "close"] = ""
        self.stream = False
        self.engine_s = 0.0

    async def run(self) -> None:
        """Answer the request, or fail at it as planned."""
        with suppress(Answered):
            await self._run()

    async def _run(self) -> None:
        async with asked(self.node.engine.port, self.request) as answer:
            if self.request.is_probe:
                await self._probe(answer)
                return
            await self._timed(self._engine_has_it())
            await self._at(Phase.BEFORE_HEADERS)
            await self._timed(answer.begin())
            await self._emit(self._head(answer))
            await self._at(Phase.AFTER_HEADERS)
            async for phase, piece in self._pieces(answer):
                await asyncio.sleep(self.pace)
                await self.send(piece)
                if phase is not None:
                    await self._at(phase)
            await self._end()

    async def send(self, piece: bytes) -> None:
        """Pass on a piece of the body."""
        self.forwarded += piece
        await self._emit(b"%x\r\n%b\r\n" % (len(piece), piece) if self.framing == "chunked" else piece)

    async def _end(self) -> None:
        await asyncio.sleep(self.pace)
        if self.framing == "chunked":
            await self._emit(b"0\r\n\r\n")
        elif self.framing == "close":
            await asyncio.sleep(LATE_S)
            self.peer.finish()

    async def _emit(self, data: bytes) -> None:
        if self.slices is None:
            self.peer.write(data)
            return
        size, pause = self.slices
        for at in range(0, len(data), size):
            self.peer.write(data[at : at + size])
            await asyncio.sleep(pause)

    async def _at(self, phase: Phase) -> None:
        plan = self.node.plan
        if plan is not None and plan.meets(self.request, phase):
            if plan.client is not None and plan.client.id == self.request.id:
                await self._until_shown(plan.client, phase)
            await strike(self, plan, phase)

    async def _probe(self, answer: Answer) -> None:
        """Passed on whole; its connection is not kept, so that none but requests are."""
        await answer.begin()
        body = await answer.body()
        self.peer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
        self.peer.finish()

    async def _engine_has_it(self) -> None:
        async with asyncio.timeout(1):
            while not self.node.engine.audit(self.request.id):
                await asyncio.sleep(0.002)

    async def _timed(self, wait: Awaitable[Result]) -> Result:
        began = asyncio.get_running_loop().time()
        try:
            return await wait
        finally:
            self.engine_s = max(self.engine_s, asyncio.get_running_loop().time() - began)

    def _head(self, answer: Answer) -> bytes:
        """The engine's, with the framing that the fault needs."""
        self.stream = answer.length is None
        theirs = b"Transfer-Encoding: chunked" if self.stream else b"Content-Length: %d" % (answer.length or 0)
        if self.framing == "close":
            return answer.head.replace(theirs, b"Connection: close")
        self.framing = "chunked" if self.stream or self._needs_chunks() else "length"
        return answer.head.replace(theirs, b"Transfer-Encoding: chunked") if self.framing == "chunked" else answer.head

    def _needs_chunks(self) -> bool:
        plan = self.node.plan
        if plan is None or plan.fault not in _REFRAMED:
            return False
        return plan.fault is Fault.CUT_CHUNK or plan.phase is not Phase.AFTER_DONE

    def _pieces(self, answer: Answer) -> AsyncIterator[tuple[Phase | None, bytes]]:
        return self._of_stream(answer) if self.stream else self._of_whole(answer)

    async def _of_stream(self, answer: Answer) -> AsyncIterator[tuple[Phase | None, bytes]]:
        tokens = json.loads(self.request.body)["max_tokens"]
        phases = {
            0: Phase.AFTER_ROLE,
            1: Phase.AFTER_EVENT_1,
            tokens // 2: Phase.MIDDLE,
            tokens + 1: Phase.BEFORE_DONE,  # behind the usage
            tokens + 2: Phase.AFTER_DONE,
        }
        events, number = answer.events(), 0
        while event := await self._timed(anext(events, b"")):
            yield phases.get(number), event
            number += 1

    async def _of_whole(self, answer: Answer) -> AsyncIterator[tuple[Phase | None, bytes]]:
        body = await self._timed(answer.body())
        half = len(body) // 2
        yield Phase.AFTER_EVENT_1, body[:1]
        yield Phase.MIDDLE, body[1:half]
        yield Phase.BEFORE_DONE, body[half:-1]
        yield Phase.AFTER_DONE, body[-1:]

    async def _until_shown(self, client: Client, phase: Phase) -> None:
        """Until the client has what was forwarded; but what is too much of a whole answer comes along with its end."""
        if phase in SEEN and (self.framing == "chunked" or phase is not Phase.AFTER_DONE):
            async with asyncio.timeout(2):
                while client.shown() < amount(self.forwarded):
                    await asyncio.sleep(0.002)
