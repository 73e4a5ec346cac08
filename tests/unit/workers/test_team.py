"""Workers that are being started when something happens, or that cannot be started."""

import asyncio
import errno
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack
from typing import Any, cast

import pytest

from pointsman.clock import WallClock
from pointsman.config.serve import ServeConfig
from pointsman.workers import team as module
from pointsman.workers.messages import Retire, Welcome
from pointsman.workers.process import NoAnswer
from pointsman.workers.sockets import listeners
from pointsman.workers.team import CannotStart, Team

SLOTS = 2


class FakeLink:
    behind = False


class FakeWorker:
    """Serves as soon as it is welcomed, and ends when killed or told to retire."""

    made: list["FakeWorker"]
    failures: list[OSError]
    may_start: asyncio.Event

    def __init__(self, number: int, slot: int, _: Any) -> None:
        self.number, self.slot = number, slot
        self.pid = number
        self.link, self.last = FakeLink(), None
        self.ready: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self.status: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.welcome: Welcome | None = None
        self.answers: list[bool] = []
        self.made.append(self)

    @property
    def serves(self) -> bool:
        return self.ready.done() and self.ready.result()

    async def start(self, listener: socket.socket) -> None:
        assert listener.fileno() >= 0
        if self.failures:
            raise self.failures.pop()
        await self.may_start.wait()

    def send(self, message: Any) -> None:
        if isinstance(message, Welcome):
            self.welcome = message
            self.ready.set_result(True)
        elif isinstance(message, Retire):
            self.end(0)

    def kill(self) -> None:
        self.end(-9)

    def end(self, status: int) -> None:
        if not self.status.done():
            self.status.set_result(status)

    async def ended(self) -> int:
        return await self.status

    async def recall(self) -> Any:
        raise NoAnswer

    async def count(self) -> bool:
        return self.answers.pop(0) if self.answers else True


@pytest.fixture
async def team(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Team]:
    monkeypatch.setattr(module, "Worker", FakeWorker)
    monkeypatch.setattr(module, "PAUSE_S", 0.0)
    FakeWorker.made, FakeWorker.failures, FakeWorker.may_start = [], [], asyncio.Event()
    FakeWorker.may_start.set()
    with ExitStack() as stack:
        sockets = listeners("127.0.0.1", 0, SLOTS)
        team = Team(ServeConfig(), sockets, b"secret", WallClock())
        for slot in range(SLOTS):
            stack.callback(lambda slot=slot: sockets[slot].close())
        yield team
        team.kill()
        await team.ended()


async def until(true: Callable[[], object]) -> None:
    async with asyncio.timeout(5):
        while not true():
            await asyncio.sleep(0)


async def being_started(team: Team) -> tuple[FakeWorker, asyncio.Future[bool]]:
    """A successor whose process is being made, and what comes of it."""
    await team.start()
    FakeWorker.may_start.clear()
    replaced = asyncio.ensure_future(team.replace(0))
    await until(lambda: len(FakeWorker.made) > SLOTS)
    return FakeWorker.made[-1], replaced


async def test_what_is_configured_meanwhile_stands_in_the_welcome(team: Team) -> None:
    worker, replaced = await being_started(team)
    new = ServeConfig(policy="round_robin")
    team.configure(new, (), ())
    FakeWorker.may_start.set()
    assert await replaced
    assert worker.welcome is not None
    assert worker.welcome.config is new


async def test_one_that_is_begun_while_all_end_ends_too(team: Team) -> None:
    _, replaced = await being_started(team)
    team.stop()
    for each in FakeWorker.made[:SLOTS]:
        each.end(0)
    FakeWorker.may_start.set()
    await replaced
    async with asyncio.timeout(5):
        await team.ended()
    assert not team.workers


async def test_a_slot_is_tried_again_when_no_process_can_be_made(team: Team, caplog: pytest.LogCaptureFixture) -> None:
    await team.start()
    FakeWorker.failures = [OSError(errno.EMFILE, "Too many open files")] * 2
    FakeWorker.made[0].end(-9)
    await until(lambda: len(team.serving) == SLOTS and not FakeWorker.failures)
    assert "a worker cannot be started: [Errno 24] Too many open files" in caplog.text
    assert team.restarts == 3


async def test_a_worker_that_hangs_is_followed_by_another(
    team: Team, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "HEED_S", 0.0)
    await team.start()
    well, hung = FakeWorker.made
    well.answers = [False, False, True, False, False]
    hung.answers = [True] + [False] * 3
    await until(lambda: team.restarts == 1 and len(team.serving) == SLOTS and not well.answers)
    assert (well.status.done(), hung.status.result()) == (False, -9)
    assert f"worker {hung.number} (process {hung.pid}) does not answer any more, and is killed" in caplog.text


async def test_without_a_process_for_each_slot_there_is_no_start(team: Team) -> None:
    FakeWorker.failures = [OSError(errno.EAGAIN, "Resource temporarily unavailable")]
    with pytest.raises(CannotStart, match="Resource temporarily unavailable"):
        await team.start()


async def test_a_roll_gives_a_slot_without_a_socket_one_again(team: Team) -> None:
    await team.start()
    cast(Any, team)._sockets[1].close()
    await team.replace_all()
    assert [worker.slot for worker in FakeWorker.made] == [0, 1, 0, 1]
    await until(lambda: len(team.serving) == SLOTS)
