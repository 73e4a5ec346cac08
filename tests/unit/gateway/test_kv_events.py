"""Listening over real ZMQ sockets, to a publisher that does as it is told."""

import asyncio
import errno
import logging
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

import msgspec
import pytest

from pointsman.brain.cache.reported import Naming
from pointsman.brain.model.kv_events import CacheChange
from pointsman.brain.model.node import NodeSpec
from pointsman.demo.children import free_ports
from pointsman.gateway import kv_events as module
from pointsman.gateway.kv_events import Listening

NAMING = Naming(1, 4)
zmq: Any = pytest.importorskip("zmq", reason="KV events need pyzmq: pip install 'pointsman[kv-events]'")


class Publisher:
    """Publishes block after block, under the numbers it is given; replays what it has `kept`."""

    def __init__(self, address: str = "tcp://127.0.0.1:*", *, binds: bool = True) -> None:
        self.out = self.socket(zmq.XPUB, address, binds)
        self.replies = self.socket(zmq.ROUTER, "tcp://127.0.0.1:*", True)
        self.kept: dict[int, bytes] = {}
        self.asked: list[int] = []
        self.serving = asyncio.ensure_future(self.serve())

    def socket(self, kind: int, address: str, binds: bool) -> Any:
        socket = zmq.Context.instance().socket(kind)
        socket.setsockopt(zmq.LINGER, 0)
        socket.bind(address) if binds else socket.connect(address)
        return socket

    def spec(self, **more: Any) -> NodeSpec:
        events, replay = (
            each.getsockopt(zmq.LAST_ENDPOINT).rstrip(b"\0").decode() for each in (self.out, self.replies)
        )
        fields = {"kv_events": events, "kv_replay": replay, "residency": "reported"} | more
        return NodeSpec(url="http://n", id="n", **fields)

    def block(self, number: int, adapter: str | None = None) -> bytes:
        event = ["BlockStored", [number], None, [number] * 4, 4, None, "GPU", adapter]
        return msgspec.msgpack.encode([1.0, [event], 0])

    def publish(self, number: int, payload: bytes | None = None) -> None:
        payload = self.block(number) if payload is None else payload
        self.kept[number] = payload
        self.out.send_multipart([b"", number.to_bytes(8, "big"), payload])

    async def subscribed(self) -> None:
        """Wait until somebody is heard to listen: what is published before is lost."""
        async with asyncio.timeout(5.0):
            while True:
                with suppress(zmq.Again):
                    assert self.out.recv(zmq.DONTWAIT) == b"\1"
                    return
                await asyncio.sleep(0.002)

    async def serve(self) -> None:
        while True:
            await asyncio.sleep(0.002)
            try:
                client, _, start = self.replies.recv_multipart(zmq.DONTWAIT)
            except zmq.Again:
                continue
            self.asked.append(int.from_bytes(start, "big"))
            for number, payload in self.kept.items():
                if number >= self.asked[-1]:
                    self.replies.send_multipart([client, b"", b"", number.to_bytes(8, "big"), payload])
            self.replies.send_multipart([client, b"", b"", b"\xff" * 8, b""])

    async def close(self) -> None:
        self.serving.cancel()
        await asyncio.gather(self.serving, return_exceptions=True)
        self.out.close()
        self.replies.close()


class Heard:
    """What listening comes to."""

    def __init__(self) -> None:
        self.changes: list[CacheChange] = []
        self.listening = Listening(asyncio.get_running_loop(), NAMING, self.changes.append)

    def links(self) -> list[int]:
        links: list[int] = []
        for change in self.changes:
            if change.cleared:
                links.clear()
            links += change.came
        return links

    async def until(self, true: Callable[[], bool]) -> None:
        async with asyncio.timeout(5.0):
            while not true():
                await asyncio.sleep(0.005)

    async def blocks(self, *numbers: int) -> None:
        """What is known comes to be these."""
        wanted = [NAMING.chain([number] * 4)[0] for number in numbers]
        await self.until(lambda: self.links() == wanted)


@pytest.fixture
async def heard() -> AsyncIterator[Heard]:
    heard = Heard()
    yield heard
    heard.listening.stop()


@pytest.fixture
async def publisher() -> AsyncIterator[Publisher]:
    publisher = Publisher()
    yield publisher
    await publisher.close()


async def test_what_was_before_comes_by_replay_and_what_follows_as_it_is(heard: Heard, publisher: Publisher) -> None:
    publisher.kept[0] = publisher.block(0)
    heard.listening.heed(publisher.spec())
    await heard.blocks(0)
    await publisher.subscribed()
    publisher.publish(1)
    await heard.blocks(0, 1)
    assert heard.changes[-1].whole
    assert publisher.asked == [0]


async def test_a_gap_is_filled(heard: Heard, publisher: Publisher) -> None:
    heard.listening.heed(publisher.spec())
    await heard.until(lambda: bool(publisher.asked))
    await publisher.subscribed()
    heard.listening._open["n"]._replayed_at = -module.REPLAY_PAUSE_S
    for number in range(40):
        publisher.kept[number] = publisher.block(number)
    publisher.publish(40)
    await heard.blocks(*range(41))
    assert publisher.asked == [0, 0]
    assert sum(change.lost for change in heard.changes) == 0


async def test_without_replay_a_gap_costs_what_was_known(heard: Heard, publisher: Publisher) -> None:
    heard.listening.heed(publisher.spec(kv_replay=""))
    await publisher.subscribed()
    publisher.publish(0)
    await heard.blocks(0)
    publisher.publish(21)
    await heard.blocks(21)
    assert (heard.changes[-1].gaps, heard.changes[-1].lost, heard.changes[-1].whole) == (1, 20, False)


async def test_replays_are_not_asked_for_all_the_time(heard: Heard, publisher: Publisher) -> None:
    heard.listening.heed(publisher.spec())
    await heard.until(lambda: bool(heard.changes) and heard.changes[-1].whole)
    await publisher.subscribed()
    publisher.publish(5)
    await heard.blocks(5)
    assert publisher.asked == [0]


async def test_garbage_is_a_line_in_the_log_and_no_more(
    heard: Heard, publisher: Publisher, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard.listening.heed(publisher.spec())
    await heard.until(lambda: bool(heard.changes) and heard.changes[-1].whole)
    await publisher.subscribed()
    with caplog.at_level(logging.WARNING):
        publisher.publish(0, b"\xc1")
        publisher.out.send_multipart([b"one frame"])
        publisher.publish(1)
        await heard.blocks(1)
        monkeypatch.setattr(module, "COMPLAIN_S", 0.0)
        publisher.publish(2, b"\xc1")
        publisher.publish(3)
        await heard.blocks(3)
    first, second = (record.getMessage() for record in caplog.records)
    assert first.startswith("node n: KV events that cannot be read: ")
    assert second.endswith("(and 1 more since this was said last)"), "a flood of them is not one of lines"


async def test_whatever_else_waits_goes_between(
    heard: Heard, publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TURN_S", 0.0)
    publisher.kept = {number: publisher.block(number) for number in range(20)}
    heard.listening.heed(publisher.spec())
    await heard.blocks(*range(20))
    assert len([change for change in heard.changes if change.came]) == 20, "each replayed one in a turn of its own"
    await publisher.subscribed()
    turns = len(heard.changes)
    for number in range(20, 40):
        publisher.publish(number)
    await heard.blocks(*range(40))
    assert len(heard.changes) == turns + 20


async def test_without_sockets_the_cache_is_believed(
    heard: Heard, publisher: Publisher, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    spec = publisher.spec()

    def none_left(*_: object) -> Any:
        raise zmq.ZMQError(errno.EMFILE)

    monkeypatch.setattr(zmq.Context, "socket", none_left)
    heard.listening.heed(spec)
    assert "no socket can be had: Too many open files; its cache is believed" in caplog.text


async def test_names_of_adapters_are_bounded(
    heard: Heard, publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_ADAPTERS", 3)
    publisher.kept = {number: publisher.block(number, f"a{number}") for number in range(9)}
    heard.listening.heed(publisher.spec())
    await heard.until(lambda: len(heard.links()) == 9)
    assert heard.listening.adapters == {"a0", "a1", "a2"}


async def test_an_engine_may_connect_to_who_listens(heard: Heard) -> None:
    (port,) = free_ports(1)
    address = f"tcp://127.0.0.1:{port}"
    heard.listening.heed(NodeSpec(url="http://n", id="n", residency="reported", kv_events=f"@{address}"))
    engine = Publisher(address, binds=False)
    await engine.subscribed()
    engine.publish(0)
    await heard.until(lambda: bool(heard.links()))
    await engine.close()


async def test_adapters_are_noticed(heard: Heard, publisher: Publisher) -> None:
    heard.listening.heed(publisher.spec())
    await heard.until(lambda: bool(heard.changes) and heard.changes[-1].whole)
    await publisher.subscribed()
    publisher.publish(0, publisher.block(0, "sql"))
    await heard.until(lambda: heard.listening.adapters == {"sql"})


async def test_another_process_is_asked_for_all_it_has(heard: Heard, publisher: Publisher) -> None:
    heard.listening.heed(publisher.spec())
    await heard.until(lambda: bool(heard.changes) and heard.changes[-1].whole)
    await publisher.subscribed()
    publisher.publish(0)
    await heard.blocks(0)
    for started_at in (None, 1.0, 1.0):
        heard.listening.probed("n", started_at)
    assert len(publisher.asked) == 1
    publisher.kept = {0: publisher.block(7)}
    heard.listening._open["n"]._replayed_at = -module.REPLAY_PAUSE_S
    heard.listening.probed("n", 2.0)
    await heard.blocks(7)
    heard.listening.probed("unknown", 2.0)


async def test_a_node_is_listened_to_as_it_is_declared(heard: Heard, publisher: Publisher) -> None:
    listening = heard.listening
    spec = publisher.spec()
    listening.heed(spec)
    first = listening._open["n"]
    listening.heed(spec)
    assert listening._open["n"] is first
    listening.heed(msgspec.structs.replace(spec, kv_replay=""))
    assert listening._open["n"] is not first
    listening.heed(msgspec.structs.replace(spec, residency="believed"))
    assert not listening._open
    listening.forget("n")


async def test_an_address_that_cannot_be_had_is_told_once(heard: Heard, caplog: pytest.LogCaptureFixture) -> None:
    spec = NodeSpec(url="http://n", id="n", residency="reported", kv_events="@tcp://192.0.2.1:1")
    for _ in range(3):
        heard.listening.heed(spec)
    (record,) = caplog.records
    assert "its KV events cannot be heard: @tcp://192.0.2.1:1" in record.getMessage()


async def test_an_address_that_comes_free_is_had_then(heard: Heard) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        spec = NodeSpec(url="http://n", id="n", residency="reported", kv_events=f"@{address}")
        heard.listening.heed(spec)
        assert not heard.listening._open
    heard.listening.heed(spec)
    assert heard.listening._open["n"].is_of(spec)


async def test_without_pyzmq_the_cache_is_believed(
    heard: Heard, publisher: Publisher, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def missing(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr(module, "import_module", missing)
    heard.listening.heed(publisher.spec())
    assert "its cache is believed" in caplog.text
