"""The proxy's own connection to the engine: one request, its answer taken apart."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from .peer import Request


class Answer:
    """An engine's answer under way: the head, then the body without its framing."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self.head = b""
        self.length: int | None = None

    async def begin(self) -> None:
        """Wait for the head. `length` is None for a chunked body."""
        self.head = await self._reader.readuntil(b"\r\n\r\n")
        for line in self.head.lower().split(b"\r\n"):
            if line.startswith(b"content-length:"):
                self.length = int(line.partition(b":")[2])

    async def body(self) -> bytes:
        """The whole body of announced length."""
        return await self._reader.readexactly(self.length or 0)

    async def events(self) -> AsyncIterator[bytes]:
        """The events of a stream, one by one."""
        rest = b""
        while size := int(await self._reader.readuntil(b"\r\n"), 16):
            rest += (await self._reader.readexactly(size + 2))[:-2]
            *whole, rest = rest.split(b"\n\n")
            for event in whole:
                yield event + b"\n\n"


@asynccontextmanager
async def asked(port: int, request: Request) -> AsyncIterator[Answer]:
    """Send `request` to the engine; leaving the block before the end makes the engine abort it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
    try:
        writer.write(request.head + request.body)
        yield Answer(reader)
    finally:
        writer.transport.abort()
