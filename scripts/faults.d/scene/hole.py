"""A node that is well until it stops completing TCP handshakes: its listener's backlog is full and nobody accepts."""

import asyncio
import socket
from contextlib import suppress

WELL = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
DROPPED_WITHIN_S = 0.2
_MOST_FILLERS = 16


class Hole:
    """Answers anything with an empty object; after `fall_silent` connections to it only time out."""

    def __init__(self) -> None:
        self.port = 0
        self._server: asyncio.Server | None = None
        self._listener: socket.socket | None = None
        self._fillers: list[socket.socket] = []
        self._writers: list[asyncio.StreamWriter] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def fall_silent(self) -> None:
        """Close what is open, listen again without accepting, and fill the backlog until a handshake is dropped."""
        assert self._server is not None
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()
        self._listener = socket.socket()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind(("127.0.0.1", self.port))
        self._listener.listen(0)
        for _ in range(_MOST_FILLERS):
            if not await self._fill():
                return
        raise OSError("this system completes handshakes beyond a full backlog")

    def reached(self) -> bytes:
        """What has come through after all, from whomever."""
        assert self._listener is not None
        self._listener.setblocking(False)
        data = b""
        with suppress(BlockingIOError):
            while True:
                accepted, _ = self._listener.accept()
                accepted.setblocking(False)
                with suppress(BlockingIOError, ConnectionError):
                    data += accepted.recv(1 << 20)
                accepted.close()
        return data

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for sock in (*self._fillers, *([self._listener] if self._listener else [])):
            sock.close()

    async def _fill(self) -> bool:
        """Whether one more handshake was completed."""
        filler = socket.socket()
        filler.setblocking(False)
        self._fillers.append(filler)
        try:
            async with asyncio.timeout(DROPPED_WITHIN_S):
                await asyncio.get_running_loop().sock_connect(filler, ("127.0.0.1", self.port))
        except TimeoutError:
            return False
        return True

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                await reader.readuntil(b"\r\n\r\n")
                writer.write(WELL)
