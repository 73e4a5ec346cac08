"""A worker as its supervisor sees it: a process, a link to it, and the questions it has not answered yet."""

import asyncio
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Any

import msgspec

from pointsman.brain.model.sharing import Sent, Share
from pointsman.workers.link import Link, linked
from pointsman.workers.messages import (
    Answer,
    Count,
    Counted,
    Question,
    Ready,
    Recall,
    Recalled,
    Told,
    ToSupervisor,
    ToWorker,
)

ANSWER_S = 5.0
"""A worker that does not answer for so long is passed over: its loop is stuck, or the machine is."""


class NoAnswer(Exception):
    """The worker is gone or does not answer in time."""


class Worker:
    """`start`, then `ready` becomes true or false; `ended` is its exit status once it has one."""

    def __init__(self, number: int, slot: int, told: Callable[["Worker", Share], None]) -> None:
        loop = asyncio.get_running_loop()
        self.number = number
        self.slot = slot
        self.ready: asyncio.Future[bool] = loop.create_future()
        self.last: Counted | None = None
        self.link = Link(ToSupervisor, self._receive, self._forsake)
        self._told = told
        self._ids = count(1)
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._process: asyncio.subprocess.Process | None = None

    @property
    def serves(self) -> bool:
        """Whether it has begun to serve."""
        return self.ready.done() and self.ready.result()

    @property
    def pid(self) -> int:
        """Of its process. To be asked for only once it is started."""
        assert self._process is not None
        return self._process.pid

    async def start(self, listener: socket.socket) -> None:
        """Start the process, which is to serve `listener` once it is welcomed. Raises OSError."""
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-m", "pointsman", "worker"]
        with theirs:
            self._process = await asyncio.create_subprocess_exec(
                *command, stdin=theirs.fileno(), pass_fds=[listener.fileno()], start_new_session=True
            )
        await linked(ours, self.link)

    async def ended(self) -> int:
        """Wait for its end; the exit status."""
        assert self._process is not None
        status = await self._process.wait()
        self.link.close()
        self._forsake()
        return status

    def send(self, message: ToWorker) -> None:
        self.link.send(message)

    def kill(self) -> None:
        """At once, whatever it does."""
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(signal.SIGKILL)

    async def ask(self, question: Question) -> Answer:
        """Raises NoAnswer."""
        number = next(self._ids)
        answer: Answer = await self._reply(number, msgspec.structs.replace(question, id=number))
        return answer

    async def count(self) -> bool:
        """Let `last` be what it has counted by now; if it does not answer, which is told, it stays what it was."""
        number = next(self._ids)
        with suppress(NoAnswer):
            await self._reply(number, Count(number))
            return True
        return False

    async def recall(self) -> list[Sent]:
        """The prompts that lead to what it believes the nodes to have cached. Raises NoAnswer."""
        number = next(self._ids)
        recalled: Recalled = await self._reply(number, Recall(number))
        return recalled.sent

    async def _reply(self, number: int, message: ToWorker) -> Any:
        reply = self._asked[number] = asyncio.get_running_loop().create_future()
        self.link.send(message)
        try:
            async with asyncio.timeout(ANSWER_S):
                return await reply
        except TimeoutError:
            raise NoAnswer from None
        finally:
            self._asked.pop(number, None)

    def _receive(self, message: Any) -> None:
        match message:
            case Told():
                self._told(self, message.share)
            case Ready():
                self._become(ready=True)
            case Counted():
                self.last = message
                self._resolve(message)
            case Answer() | Recalled():
                self._resolve(message)

    def _resolve(self, message: Answer | Counted | Recalled) -> None:
        reply = self._asked.get(message.id)
        if reply is not None and not reply.done():
            reply.set_result(message)

    def _become(self, *, ready: bool) -> None:
        if not self.ready.done():
            self.ready.set_result(ready)

    def _forsake(self) -> None:
        """Nothing more will come from it."""
        self._become(ready=False)
        for reply in self._asked.values():
            if not reply.done():
                reply.set_exception(NoAnswer())
