"""A request's life ends once, gives everything back and tells its client, also where something inside breaks."""

import asyncio
from typing import Any

import pytest

from pointsman.brain.model.errors import NoNode
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.orders import Refuse, Start
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.brain.model.request import Request
from pointsman.brain.model.standing import Standing
from pointsman.clock import ManualClock
from pointsman.gateway.exchange import Exchange, Relaying
from pointsman.gateway.settings import Timeouts
from pointsman.gateway.work import Work

START = Start(1, 11, NodeSpec(url="http://n"), 1, 30.0)
FAILED = Outcome(verdict=Verdict.FAIL, delivered=False)
DONE = Outcome(verdict=Verdict.OK)


class World:
    """Everything an exchange talks to; what it was told is kept by name."""

    def __init__(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self.told: list[Any] = []
        self.order: Start | Refuse | None = None
        self.goes_on = False
        self.breaks: set[str] = set()
        self.connection_made = asyncio.Event()
        self.started = False
        self.keep_alive = True
        self.tells_progress = False
        self.standing: Standing | None = None
        self.pool = self
        self.prefix = self.lines = b""
        me: Any = self
        self.relaying = Relaying(me, me, me, ManualClock(), Timeouts(), loop or me)

    def begin(self) -> Exchange | None:
        me: Any = self
        work = Work(
            id=b"r", head=me, body=b"", request=Request(id="r", model="m", stream=True), expires=10.0,
            events="choices", tells_progress=self.tells_progress,
        )  # fmt: skip
        return self.relaying.begin(work, me, me)

    def ended(self) -> list[Any]:
        return [each for each in self.told if each != "watch"]

    def _tell(self, *what: Any) -> None:
        self.told.append(what if len(what) > 1 else what[0])
        if what[0] in self.breaks:
            raise RuntimeError(what[0])

    # Deadlines, driver, targets and their pool, reply, the client's connection

    def watch(self, _: Any) -> None:
        self._tell("watch")

    def forget(self, _: Any) -> None:
        self._tell("forget")

    def submit(self, _: Request, party: Any) -> int:
        if self.order is not None:
            party.ordered(self.order)
        return 1

    def finished(self, ticket: int, lease: int, _: Outcome) -> bool:
        self._tell("finished", ticket, lease)
        if "brain" in self.breaks:
            raise RuntimeError("brain")
        return self.goes_on

    def waits(self, _: int) -> Standing | None:
        return self.standing

    def close(self, ticket: int, lease: int) -> None:
        self._tell("close", ticket, lease)

    def of(self, _: NodeSpec) -> Any:
        self._tell("of")
        return self

    def take(self) -> None:
        return None

    async def connect(self) -> Any:
        if "connect" in self.breaks:
            raise UnicodeError("no such name")
        await self.connection_made.wait()

    def refuse(self, error: Any, _: bytes) -> None:
        self._tell("refuse", error.status)

    def promise(self, _lines: bytes, _last_words: Any) -> None:
        self._tell("promise")

    def comment(self, text: bytes) -> None:
        self._tell("comment", text)

    def request_done(self, keep_alive: bool) -> None:
        self._tell("done", keep_alive)


GIVEN_BACK = ["forget", ("close", 1, 11), ("done", True)]


async def under_way() -> tuple[World, Exchange]:
    world = World(asyncio.get_running_loop())
    world.order = START
    exchange = world.begin()
    assert exchange is not None
    assert world.ended() == ["of"]
    world.told.clear()
    return world, exchange


def test_a_refusal_at_once_leaves_nothing_to_wait_for() -> None:
    world = World()
    world.order = Refuse(1, NoNode("none"))
    assert world.begin() is None
    assert world.ended() == [("refuse", 503), "forget", ("close", 1, 0)]


def test_a_refusal_later() -> None:
    world = World()
    exchange = world.begin()
    assert exchange is not None
    exchange.ordered(Refuse(1, NoNode("none")))
    exchange.end(NoNode("again"))
    assert world.ended() == [("refuse", 503), "forget", ("close", 1, 0), ("done", True)]


def test_a_node_that_cannot_be_addressed() -> None:
    world = World()
    world.order = START
    world.breaks = {"of"}
    assert world.begin() is None
    assert world.ended() == ["of", ("refuse", 500), "forget", ("close", 1, 11)]


async def test_a_connection_that_breaks_in_an_unknown_way() -> None:
    world = World(asyncio.get_running_loop())
    world.order = START
    world.breaks = {"connect"}
    world.begin()
    await asyncio.sleep(0)
    assert world.ended() == ["of", ("refuse", 500), *GIVEN_BACK]


async def test_the_client_leaves_while_a_connection_is_opened() -> None:
    world, exchange = await under_way()
    await asyncio.sleep(0)
    exchange.client_left()
    exchange.client_left()
    world.connection_made.set()
    await asyncio.sleep(0)
    assert world.told == GIVEN_BACK[:2]
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


async def test_the_last_try_failed() -> None:
    world, exchange = await under_way()
    exchange.tried(FAILED, None)
    assert world.told == [("finished", 1, 11), ("refuse", 502), *GIVEN_BACK]


async def test_a_delivered_answer_is_the_end() -> None:
    world, exchange = await under_way()
    exchange.tried(DONE, None)
    assert world.told == [("finished", 1, 11), *GIVEN_BACK]


async def test_another_try_keeps_everything() -> None:
    world, exchange = await under_way()
    world.goes_on = True
    exchange.tried(FAILED, None)
    assert world.told == [("finished", 1, 11)]
    exchange.client_left()


async def test_the_brain_breaks() -> None:
    world, exchange = await under_way()
    world.breaks = {"brain"}
    exchange.tried(FAILED, None)
    assert world.told == [("finished", 1, 11), ("refuse", 500), *GIVEN_BACK]


@pytest.mark.parametrize("now", [9.9, 10.0])
async def test_the_clients_own_limit(now: float) -> None:
    world, exchange = await under_way()
    exchange.check(now)
    assert exchange.over == (now >= 10.0)
    assert world.told == ([("finished", 1, 11), ("refuse", 504), *GIVEN_BACK] if exchange.over else [])
    exchange.client_left()


async def test_a_part_that_cannot_go_on_elsewhere_stays_where_it_is() -> None:
    """Nobody knows what the client has: it is not taken off for another's sake, unless nothing of it was delivered."""
    world, exchange = await under_way()
    world.started = True
    exchange.interrupted(11, "preempted", spares=True)
    assert world.ended() == []
    world.started = False
    exchange.interrupted(11, "preempted", spares=True)
    assert world.ended()


async def test_who_asked_for_it_is_told_at_once_and_then_with_the_sweep_while_it_waits() -> None:
    world = World(asyncio.get_running_loop())
    world.tells_progress = True
    world.standing = Standing(2, None)
    exchange = world.begin()
    assert exchange is not None
    world.standing = Standing(1, 0.5)
    exchange.check(0.25)
    exchange.pause()
    exchange.check(1.0)
    exchange.resume()
    told = [("comment", b"pointsman position=2"), ("comment", b"pointsman position=1 expected_wait_s=0.5")]
    assert [each for each in world.ended() if each != "promise"] == told[:1]
    exchange.check(1.0)
    assert [each for each in world.ended() if each != "promise"] == told
    exchange.ordered(START)
    world.standing = None
    exchange.check(9.0)
    assert [each for each in world.ended() if each not in ("promise", "of")] == told
    exchange.client_left()


def test_who_did_not_ask_is_told_nothing() -> None:
    world = World()
    world.standing = Standing(2, None)
    exchange = world.begin()
    assert exchange is not None
    exchange.check(9.0)
    assert world.ended() == []
