"""One request through the proxy: the engine's answer taken apart and put together again, with a halt at each phase."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING

from .cells import SEEN, Fault, Phase
from .client import Client, amount
from .peer import Peer, Request
from .strikes import Answered, strike
from .upstream import Answer, asked

if TYPE_CHECKING:
    from .node import Node

_REFRAMED = (Fault.CUT_CHUNK, Fault.IN_BAND, Fault.GARBAGE, Fault.OVERSIZE)
_STREAM_HEAD = b"content-type: text/event-stream"


class Relay:
    """`forwarded` is the body as it went to the gateway; `pace` the seconds before each further piece."""

    def __init__(self, node: Node, peer: Peer, request: Request) -> None:
        self.node = node
        self.peer = peer
        self.request = request
        self.forwarded = b""
        self.pace = 0.0
        self.chunked = True
        self.stream = False

    async def run(self) -> None:
        """Answer the request, or fail at it as planned."""
        with suppress(Answered):
            await self._run()

    async def _run(self) -> None:
        async with asked(self.node.engine.port, self.request) as answer:
            if self.request.is_probe:
                await self._probe(answer)
                return
            await self._engine_has_it()
            await self._at(Phase.BEFORE_HEADERS)
            await answer.begin()
            self._head(answer)
            await self._at(Phase.AFTER_HEADERS)
            async for phase, piece in self._pieces(answer):
                await asyncio.sleep(self.pace)
                self.write(piece)
                if phase is not None:
                    await self._at(phase)
            await asyncio.sleep(self.pace)
            if self.chunked:
                self.peer.write(b"0\r\n\r\n")

    def write(self, piece: bytes) -> None:
        """Pass on a piece of the body."""
        self.forwarded += piece
        self.peer.write(b"%x\r\n%b\r\n" % (len(piece), piece) if self.chunked else piece)

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

    def _head(self, answer: Answer) -> None:
        plan = self.node.plan
        self.stream = answer.length is None
        self.chunked = self.stream
        if not self.stream and plan is not None and plan.fault in _REFRAMED and plan.phase is not Phase.AFTER_DONE:
            self.chunked = True
        if not self.stream and plan is not None and plan.fault is Fault.CUT_CHUNK:
            self.chunked = True
        head = answer.head
        if self.chunked and not self.stream:
            head = head.replace(b"Content-Length: %d" % answer.length, b"Transfer-Encoding: chunked")
        self.peer.write(head)

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
        number = 0
        async for event in answer.events():
            yield phases.get(number), event
            number += 1

    async def _of_whole(self, answer: Answer) -> AsyncIterator[tuple[Phase | None, bytes]]:
        body = await answer.body()
        half = len(body) // 2
        yield Phase.AFTER_EVENT_1, body[:1]
        yield Phase.MIDDLE, body[1:half]
        yield Phase.BEFORE_DONE, body[half:-1]
        yield Phase.AFTER_DONE, body[-1:]

    async def _until_shown(self, client: Client, phase: Phase) -> None:
        """Until the client has what was forwarded; but what is too much of a whole answer comes along with its end."""
        if phase in SEEN and (self.stream or self.chunked or phase is not Phase.AFTER_DONE):
            async with asyncio.timeout(2):
                while client.shown() < amount(self.forwarded):
                    await asyncio.sleep(0.002)
