"""Clients leave, stall, pipeline, send too much, or send what is not HTTP."""

import asyncio
import contextlib
import json
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from pointsman.clock import ManualClock
from pointsman.gateway.app import Gateway
from pointsman.gateway.settings import Limits, Timeouts

from .conftest import SOON_S, Client, Connect, World, chat
from .scripted_upstream import (
    DONE,
    ROLE,
    STREAM_HEAD,
    Received,
    always,
    chunk,
    event,
    never,
    respond,
    standing,
    stream,
)

GOOD = always(respond(b"{}"))
TEXT = event({"content": "Hi"})
Leaving = Callable[[Gateway], Coroutine[Any, Any, None]]


async def leaves(world: World, client: Client) -> None:
    """The client is gone; the node hears of it soon and nothing is left over."""
    client.writer.transport.abort()
    await asyncio.wait_for(world.nodes[0].left.wait(), SOON_S)
    await world.at_rest()


@pytest.mark.parametrize("streamed", [True, False])
async def test_leaving_before_the_head(world: World, streamed: bool) -> None:
    await world.open(never)
    client = await world.client()
    client.send(chat(stream=streamed))
    await world.until(lambda: bool(world.nodes[0].requests))
    await leaves(world, client)


async def test_leaving_in_the_middle_of_a_stream(world: World) -> None:
    await world.open(stream(ROLE, *[TEXT] * 10_000, gap_s=0.005))
    client = await world.client()
    client.send(chat(stream=True))
    await client.reader.readuntil(b"Hi")
    await leaves(world, client)


async def test_leaving_after_the_head_of_a_plain_answer(world: World) -> None:
    async def half(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(respond(b"x" * 100)[:-50])
        await asyncio.sleep(60)

    await world.open(half)
    client = await world.client()
    client.send(chat())
    await client.reader.readuntil(b"x")
    await leaves(world, client)


async def test_leaving_the_queue(world: World) -> None:
    await world.open(never, slots=1)
    first, second = await world.client(), await world.client()
    first.send(chat())
    await world.until(lambda: bool(world.nodes[0].requests))
    second.send(chat())
    await world.until(lambda: world.dispatcher.queued().get("m") == 1)
    second.writer.transport.abort()
    await world.until(lambda: world.dispatcher.queued().get("m") == 0)
    await leaves(world, first)
    assert len(world.nodes[0].requests) == 1


async def test_leaving_while_connecting(world: World, connecting: Connect) -> None:
    asked = asyncio.Event()

    async def endless(*_: object, **__: object) -> None:
        asked.set()
        await asyncio.sleep(60)

    await world.open(GOOD, limits=Limits(idle_connections=0))
    client = await world.client()
    connecting(endless)
    client.send(chat())
    await asyncio.wait_for(asked.wait(), 5)
    client.writer.transport.abort()
    await world.at_rest()


async def test_waiting_then_starting(world: World) -> None:
    release = asyncio.Event()

    async def held(_: Received, writer: asyncio.StreamWriter) -> None:
        await release.wait()
        writer.write(respond(b"{}"))

    await world.open(held, slots=1)
    clients = [await world.client() for _ in range(3)]
    for client in clients:
        client.send(chat())
    await world.until(lambda: world.dispatcher.queued().get("m") == 2)
    await world.until(lambda: bool(world.nodes[0].requests))
    assert len(world.nodes[0].requests) == 1
    release.set()
    assert [(await client.response()).status for client in clients] == [200] * 3
    await world.at_rest()


async def test_slow_reader_pauses_its_node_and_nobody_else(world: World) -> None:
    sent = 0

    async def flood(_: Received, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(STREAM_HEAD + chunk(ROLE))
        big = chunk(event({"content": "x" * 50_000}))
        for _ in range(1_000):
            writer.write(big)
            await writer.drain()
            sent += len(big)
        writer.write(chunk(event({}, "stop")) + chunk(DONE) + b"0\r\n\r\n")

    async def either(request: Received, writer: asyncio.StreamWriter) -> None:
        await (flood if request.json().get("stream") else GOOD)(request, writer)

    await world.open(either)
    slow, quick = await world.client(), await world.client()
    slow.send(chat(stream=True))
    before = -1
    while sent != before or not sent:  # until nothing moves any more
        before = sent
        await asyncio.sleep(0.2)
    assert sent < 40_000_000
    assert [(await quick.ask(chat())).status for _ in range(2)] == [200] * 2
    total = 0
    while b"[DONE]" not in (data := await slow.reader.read(1 << 20)):
        total += len(data)
    assert total > 49_000_000


async def test_stalled_client_is_dropped(world: World) -> None:
    world.clock = ManualClock()
    await world.open(
        stream(ROLE, *[event({"content": "x" * 50_000})] * 2_000),
        timeouts=Timeouts(client_stall_s=5.0, total_s=1e9, lame_duck_s=0),
    )
    client = await world.client()
    client.send(chat(stream=True))
    await world.until(lambda: bool(world.nodes[0].requests))
    (connection,) = world.gateway._server.connections
    await world.until(lambda: connection._stalled_at >= 0)
    await world.until(lambda: world.passes(3.0) and world.nodes[0].left.is_set())
    await world.at_rest()


async def test_pipelined_requests_are_answered_in_order(world: World) -> None:
    async def echo(request: Received, writer: asyncio.StreamWriter) -> None:
        seed = request.json()["seed"]
        await asyncio.sleep(0.05 / (1 + seed))
        writer.write(respond(b"%d" % seed))

    await world.open(echo)
    client = await world.client()
    for seed in range(5):
        client.send(chat(seed=seed))
    assert [(await client.response()).body for _ in range(5)] == [b"%d" % seed for seed in range(5)]


async def test_bad_request_behind_a_good_one_is_answered_second(world: World) -> None:
    await world.open(GOOD)
    client = await world.client()
    client.send(chat())
    client.writer.write(b"GARBAGE\r\n\r\n")
    assert [(await client.response()).status for _ in range(2)] == [200, 400]
    assert await client.reader.read() == b""


async def test_oversize(world: World) -> None:
    await world.open(GOOD, limits=Limits(body_bytes=1000))
    cases = {
        413: (b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 1001\r\n\r\n", b"x" * 1001),
        431: (b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nbig: ", b"x" * 20_000),
    }
    for status, (head, rest) in cases.items():
        client = await world.client()
        client.writer.write(head + rest)
        assert (await client.response()).status == status
    client = await world.client()
    client.writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n")
    client.writer.write(chunk(b"x" * 999) + chunk(b"yy"))
    assert (await client.response()).status == 413
    client = await world.client()
    client.writer.write(b"GET /health HTTP/1.1\r\nhost: x\r\n" + b"a: b\r\n" * 101 + b"\r\n")
    assert (await client.response()).status == 431


async def test_expect_continue(world: World) -> None:
    await world.open(GOOD, api_keys=("k",))
    client = await world.client()
    body = json.dumps(chat()).encode()
    head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: %d\r\n" % len(
        body
    )
    client.writer.write(head + b"authorization: Bearer k\r\n\r\n")
    assert await client.reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
    client.writer.write(body)
    assert (await client.response()).status == 200
    stranger = await world.client()
    stranger.writer.write(head + b"\r\n")
    assert (await stranger.response()).status == 401


async def test_offered_upgrade_is_declined_and_the_request_served(world: World) -> None:
    await world.open(GOOD)
    client = await world.client()
    body = json.dumps(chat()).encode()
    upgrade = ("connection: Upgrade, HTTP2-Settings", "upgrade: h2c", "http2-settings: AAMAAABkAAQAAP__")
    assert (await client.ask(chat(), headers=upgrade)).status == 200
    assert world.nodes[0].requests[0].body == body


async def test_slow_heads_and_bodies_are_cut(world: World) -> None:
    world.clock = ManualClock()
    await world.open(GOOD, timeouts=Timeouts(client_head_s=0.1, client_body_s=0.1, lame_duck_s=0))
    connections = world.gateway._server.connections
    for start in (
        b"",
        b"POST /v1/chat/completions HTTP/1.1\r\nho",
        b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{",
    ):
        client = await world.client()
        client.writer.write(start)
        await world.until(lambda: any(each._reader.inside_message == bool(start) for each in connections))  # noqa: B023
        world.pass_time(0.1)
        with contextlib.suppress(ConnectionError):  # cut with bytes unread is a reset
            assert await asyncio.wait_for(client.reader.read(), SOON_S) == b""
        await world.until(lambda: not connections)


@pytest.mark.parametrize("leave", [Gateway.stop, Gateway.retire])
async def test_what_does_not_end_in_time_is_told(
    world: World, leave: Leaving, caplog: pytest.LogCaptureFixture
) -> None:
    await world.open(stream(ROLE, *[TEXT] * 10_000, gap_s=0.01), timeouts=Timeouts(lame_duck_s=0, drain_s=0.1))
    streaming, plain = await world.client(), await world.client()
    streaming.send(chat(stream=True))
    await streaming.reader.readuntil(b"Hi")
    world.nodes[0].script = never
    plain.send(chat())
    await world.until(lambda: len(world.nodes[0].requests) == 2)
    stopping = asyncio.ensure_future(leave(world.gateway))
    rest = await streaming.reader.readuntil(b"\r\n0\r\n\r\n")
    assert b'"code":"shutting_down"' in rest
    assert b"node" not in rest, "it is not to blame"
    response = await plain.response()
    assert (response.status, response.json()["error"]["code"]) == (503, "shutting_down")
    await stopping
    assert "told that they end here: 2" in caplog.text
    assert "are cut" not in caplog.text


async def test_stopping_lets_streams_end(world: World) -> None:
    go = asyncio.Event()
    await world.open(standing(go, ROLE, *[TEXT] * 20, event({}, "stop"), DONE))
    client, idle = await world.client(), await world.client()
    assert (await idle.ask(path="/health", method="GET")).status == 200
    client.send(chat(stream=True))
    await client.reader.readuntil(b"Hi")
    stopping = asyncio.ensure_future(world.gateway.stop())
    assert await idle.reader.read() == b""
    go.set()
    rest = await client.reader.read()
    assert rest.endswith(DONE + b"\r\n0\r\n\r\n")
    assert b'"error"' not in rest
    await asyncio.wait_for(stopping, SOON_S)
