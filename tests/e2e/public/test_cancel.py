"""Cancelling and leaks: whoever leaves, whenever, the node hears of it and nothing is left counted."""

import asyncio
import logging
import socket
import struct
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.e2e.gateway.conftest import Client, World, chat
from tests.e2e.gateway.scripted_upstream import (
    DONE,
    ROLE,
    STREAM_HEAD,
    Cut,
    Received,
    Script,
    always,
    chunk,
    event,
    never,
    respond,
    stream,
)

from pointsman.brain.model.settings import BrainSettings
from pointsman.observe.fleet_reading import read

GOOD = always(respond(b"{}"))
TEXT = event({"content": "Hi"})
RESTLESS = BrainSettings(fails_in_a_row=10_000, fail_share=1.0, busy_s=0.0, queue_timeout_s=0.02)
COUNTED = ("outstanding", "running", "backlog_tokens", "kv_reserved")


def reset(client: Client) -> None:
    """The client's machine says RST, not FIN."""
    sock = client.writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.writer.transport.abort()


def nothing_counted(world: World) -> None:
    reading = read(world.dispatcher, world.clock.now())
    assert not any(reading.queues.values())
    for name in COUNTED:
        assert not any(reading.columns[name]), name
    assert not world.gateway.driver._leases
    assert not world.gateway.driver._parties
    assert world.dispatcher._retries.in_flight == 0


async def headers_only(_: Received, writer: asyncio.StreamWriter) -> None:
    writer.write(STREAM_HEAD)
    await asyncio.sleep(60)


async def role_only(_: Received, writer: asyncio.StreamWriter) -> None:
    writer.write(STREAM_HEAD + chunk(ROLE))
    await asyncio.sleep(60)


async def half_plain(_: Received, writer: asyncio.StreamWriter) -> None:
    writer.write(respond(b"x" * 100)[:-50])
    await asyncio.sleep(60)


async def half_error(_: Received, writer: asyncio.StreamWriter) -> None:
    writer.write(respond(b"x" * 100, 500)[:-50])
    await asyncio.sleep(60)


FLOW = stream(ROLE, *[TEXT] * 10_000, gap_s=0.005)


@pytest.mark.parametrize("way", [reset, lambda client: client.writer.close()], ids=["rst", "fin"])
@pytest.mark.parametrize(
    ("script", "streamed", "seen"),
    [
        (never, False, b""),
        (never, True, b""),
        (headers_only, True, b""),
        (role_only, True, b""),
        (half_error, False, b""),
        (half_plain, False, b"x"),
        (FLOW, True, b"Hi"),
    ],
)
async def test_the_node_hears_that_its_client_left(
    world: World, script: Script, streamed: bool, seen: bytes, way: Callable[[Client], None]
) -> None:
    """Streamed or not, before the first token or after it: the node's connection is closed within a second."""
    await world.open(script)
    client = await world.client()
    client.send(chat(stream=streamed))
    await world.until(lambda: bool(world.nodes[0].requests))
    await asyncio.sleep(0.02)
    if seen:
        await client.reader.readuntil(seen)
    way(client)
    await asyncio.wait_for(world.nodes[0].left.wait(), 1.0)
    await world.at_rest()
    nothing_counted(world)


@pytest.mark.parametrize("way", [reset, lambda client: client.writer.close()], ids=["rst", "fin"])
@pytest.mark.parametrize("behind", [b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n" * 3000, b""], ids=["many", "large"])
async def test_leaving_behind_requests_that_wait(world: World, behind: bytes, way: Callable[[Client], None]) -> None:
    """So much waits on the connection that it is not read for the time being: its end is noticed all the same."""
    await world.open(never)
    client = await world.client()
    client.send(chat())
    if behind:
        client.writer.write(behind)
    else:
        client.send(chat(messages=["x" * 300_000]))
    await world.until(lambda: bool(world.nodes[0].requests))
    await asyncio.sleep(0.05)
    way(client)
    await asyncio.wait_for(world.nodes[0].left.wait(), 5.0)
    await world.at_rest()
    nothing_counted(world)


async def test_leaving_between_two_tries(world: World) -> None:
    """The first node has failed and the second is being asked: that one hears of it."""
    await world.open(always(respond(b"{}", 500)), never)
    client = await world.client()
    client.send(chat())
    if not world.nodes[0].requests:  # round robin may have begun with the second
        await world.until(lambda: bool(world.nodes[0].requests or world.nodes[1].requests))
    await world.until(lambda: bool(world.nodes[1].requests))
    reset(client)
    await asyncio.wait_for(world.nodes[1].left.wait(), 1.0)
    await world.at_rest()
    nothing_counted(world)


async def test_leaving_inside_the_body(world: World) -> None:
    await world.open(GOOD)
    client = await world.client()
    client.writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{")
    await asyncio.sleep(0.02)
    reset(client)
    await world.until(lambda: not world.gateway._server.connections, 1.0)
    assert not world.nodes[0].requests
    nothing_counted(world)


@pytest.mark.parametrize("streamed", [True, False])
async def test_a_place_is_given_back_each_time(world: World, streamed: bool) -> None:
    """With room for one request, leaving it must make room for the next, again and again."""
    await world.open(FLOW if streamed else never, slots=1)
    for round_ in range(1, 11):
        client = await world.client()
        client.send(chat(stream=streamed))
        await world.until(lambda: len(world.nodes[0].requests) == round_)  # noqa: B023
        reset(client)
        await world.at_rest()
    world.nodes[0].script = GOOD
    client = await world.client()
    assert (await client.ask(chat())).status == 200
    nothing_counted(world)


async def test_a_wake_up_for_one_who_left_goes_to_the_next(world: World) -> None:
    """The place is freed at the very moment when the first in the queue leaves."""
    await world.open(never, slots=1)
    for _ in range(20):
        holder, leaver, waiter = [await world.client() for _ in range(3)]
        before = len(world.nodes[0].requests)
        for client in (holder, leaver, waiter):
            client.send(chat())
            await asyncio.sleep(0.003)
        await world.until(lambda: world.dispatcher.queued().get("m") == 2)
        reset(holder)
        reset(leaver)
        await world.until(lambda: world.dispatcher.queued().get("m") == 0, 1.0)
        await world.until(lambda: len(world.nodes[0].requests) >= before + 2, 1.0)  # noqa: B023
        reset(waiter)
        await world.at_rest()
    nothing_counted(world)


async def test_a_thousand_failures_leave_nothing_counted(world: World) -> None:
    kinds: list[Script] = [
        always(respond(b"{}", 500)),
        always(respond(b"{}", 503)),
        always(respond(b"{}", 401)),
        always(respond(b"{}", 400)),
        always(b"garbage\r\n\r\n"),
        stream(ROLE, end=False),
        stream(ROLE, TEXT, end=False),
        stream(ROLE, b'data: {"error":{"message":"x"}}\n\n', DONE),
    ]
    turn = 0

    async def fails(request: Received, writer: asyncio.StreamWriter) -> None:
        nonlocal turn
        turn += 1
        if turn % 9 == 0:
            raise Cut
        await kinds[turn % len(kinds)](request, writer)

    await world.open(fails, fails, brain=RESTLESS)
    clients = [await world.client() for _ in range(25)]

    async def ask(client: Client) -> None:
        for number in range(60):
            response = await client.ask(chat(stream=number % 2 == 0))
            if response.headers.get("connection") == "close" or not response.complete:
                return

    await asyncio.gather(*[ask(client) for client in clients])
    assert turn >= 1000
    await world.at_rest()
    nothing_counted(world)


async def test_refusals_leave_nothing_counted(world: World) -> None:
    """Bad bodies, unknown models, a full queue, a queue's time-out."""
    await world.open(never, slots=1, brain=BrainSettings(queue_limit=2, queue_timeout_s=0.1))
    holder = await world.client()
    holder.send(chat())
    await world.until(lambda: bool(world.nodes[0].requests))
    clients = [await world.client() for _ in range(8)]
    bodies: list[Any] = [chat(), chat(), chat(), chat(), b"{", {"model": "nope"}, b"", chat(n="x")]
    answers = await asyncio.gather(*[client.ask(body) for client, body in zip(clients, bodies, strict=True)])
    assert sorted(answer.status for answer in answers) == [400, 400, 400, 404, 503, 503, 503, 503]
    reset(holder)
    await world.at_rest()
    nothing_counted(world)


async def test_five_hundred_who_leave_kill_nobody(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """A cancelled task is no exception that escapes: the gateway goes on, and no task ends unheard."""
    caplog.set_level(logging.WARNING)
    unheard: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unheard.append(context))
    await world.open(FLOW, FLOW, slots=64)

    async def leave(number: int) -> None:
        async with Client(world.gateway.port, world.client_tls) as client:
            client.send(chat(stream=number % 2 == 0))
            await asyncio.sleep(number % 7 * 0.002)
            reset(client)

    async def in_turn(first: int) -> None:
        for number in range(first, 500, 25):
            await leave(number)

    waits: list[Awaitable[None]] = [in_turn(first) for first in range(25)]
    await asyncio.gather(*waits)
    await world.until(world.dispatcher.at_rest)
    await world.at_rest()
    nothing_counted(world)
    assert not unheard
    assert not caplog.records
    world.nodes[0].script = world.nodes[1].script = GOOD
    client = await world.client()
    assert (await client.ask(chat())).status == 200
