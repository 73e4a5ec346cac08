"""A crowd of clients: each keeps one stream going at any time, one after another on its connection."""

import asyncio

from scene.asks import Asks
from scene.client import Answer, Connection


class Crowd:
    """`size` clients. `start`, then `leave`, after which `answers` has every request that was sent."""

    def __init__(self, port: int, asks: Asks, size: int, ramp_s: float) -> None:
        self._port = port
        self._asks = asks
        self._size = size
        self._ramp_s = ramp_s
        self._leaving = False
        self._tasks: list[asyncio.Task[None]] = []
        self._connections: list[Connection] = []
        self.answers: list[Answer] = []
        self.under_way = 0

    def start(self) -> None:
        self._tasks = [asyncio.create_task(self._client(number)) for number in range(self._size)]

    async def leave(self) -> None:
        """Let every client finish its stream, then close all connections."""
        self._leaving = True
        await asyncio.gather(*self._tasks)
        for connection in self._connections:
            connection.close()

    @property
    def chunks(self) -> int:
        """Events with content that came until now."""
        return sum(connection.chunks for connection in self._connections)

    async def _client(self, number: int) -> None:
        await asyncio.sleep(self._ramp_s * number / self._size)
        connection = await self._connect()
        while not self._leaving:
            if not connection.open:
                connection = await self._connect()
            answer = connection.send(self._asks.next())
            self.answers.append(answer)
            self.under_way += 1
            await connection.ended()
            self.under_way -= 1

    async def _connect(self) -> Connection:
        connection = await Connection.to(self._port)
        self._connections.append(connection)
        return connection
