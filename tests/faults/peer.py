"""The gateway's connection to a node, seen from the node: requests come in, bytes go out, and it can end badly."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, cast

_AT_ONCE = struct.pack("ii", 1, 0)
"""A zero linger time: closing sends a reset instead of a FIN."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came off the socket."""

    head: bytes
    body: bytes
    fields: dict[str, str] = field(repr=False)

    @property
    def is_probe(self) -> bool:
        return self.head.startswith(b"GET ")

    @property
    def id(self) -> str:
        return self.fields.get("x-request-id", "")


class Peer(asyncio.Protocol):
    """One connection. `serve` is called when it is open; what it returns is cancelled when the connection is gone."""

    def __init__(self, serve: Callable[[Peer], Coroutine[Any, Any, None]]) -> None:
        self._serve = serve
        self._buffer = bytearray()
        self._more: asyncio.Future[None] | None = None
        self.gone = asyncio.Event()
        self.task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self.task = asyncio.ensure_future(self._serve(self))

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._more is not None and not self._more.done():
            self._more.set_result(None)

    def connection_lost(self, error: Exception | None) -> None:
        self.gone.set()
        if self.task is not None:
            self.task.cancel()

    async def request(self) -> Request:
        """The next request, whole."""
        head = await self._taken(await self._end_of_head())
        lines = head.decode("latin-1").split("\r\n")[1:-2]
        fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        return Request(head, await self._taken(int(fields.get("content-length", "0"))), fields)

    def write(self, data: bytes) -> None:
        self._transport.write(data)

    def reset(self) -> None:
        """End the connection by a reset, and give up what could not be sent."""
        if self.gone.is_set():
            return
        self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        self._transport.abort()

    def finish(self) -> None:
        """End the connection by a FIN, once all is sent."""
        self._transport.close()

    def finish_sending(self) -> None:
        """Send a FIN; what still comes in is taken."""
        self._transport.write_eof()

    async def _end_of_head(self) -> int:
        while (end := self._buffer.find(b"\r\n\r\n")) < 0:
            await self._read()
        return end + 4

    async def _taken(self, size: int) -> bytes:
        while len(self._buffer) < size:
            await self._read()
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        return data

    async def _read(self) -> None:
        self._more = asyncio.get_running_loop().create_future()
        await self._more
