"""A wire between gateway and engine that keeps every byte that passes, in both directions."""

import asyncio
import socket
from contextlib import suppress


class Tee:
    """Listens on `port` from the start; `open` lets connections through to `target`."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self.asked = bytearray()
        self.answered = bytearray()
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._connected, sock=self._socket)

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self._target)
            await asyncio.gather(_pass(reader, back, self.asked), _pass(there, writer, self.answered))
        except OSError:
            pass  # the engine refuses, and so do we
        finally:
            self._tasks.discard(task)
            writer.transport.abort()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, kept: bytearray) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(1 << 16):
            kept += data
            writer.write(data)
    writer.transport.abort()
