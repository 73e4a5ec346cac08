"""Time-outs: a node that hangs costs only its own requests, and long work is not cut for being long."""

import asyncio
import socket
import statistics
from contextlib import AsyncExitStack, closing

import pytest
from tests.e2e.gateway.conftest import Client, World, chat
from tests.e2e.gateway.scripted_upstream import (
    DONE,
    ROLE,
    STREAM_HEAD,
    Received,
    ScriptedUpstream,
    always,
    chunk,
    event,
    never,
    respond,
    stream,
)

from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.reports import NodeReport
from pointsman.brain.model.settings import BrainSettings
from pointsman.clock import ManualClock
from pointsman.gateway.settings import Timeouts

TEXT = event({"content": "Hi"})
STOP = event({}, "stop")


async def test_a_stopped_engine_blocks_nobody_else(world: World) -> None:
    """One of three takes connections (its kernel does) and never reads them: the others' requests do not notice.

    Beside it a gateway without such a node does the same, so that both meet whatever else the machine does.
    """

    async def works(_: Received, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.005)
        writer.write(respond(b"{}"))

    async def p99(world: World) -> float:
        loop = asyncio.get_running_loop()
        room = asyncio.Semaphore(12)
        times: list[float] = []

        async def one() -> None:
            async with Client(world.gateway.port, world.client_tls) as client, room:
                start = loop.time()
                assert (await asyncio.wait_for(client.ask(chat()), 5)).status == 200
                times.append(loop.time() - start)

        await asyncio.gather(*[one() for _ in range(225)])
        return statistics.quantiles(times, n=100)[-1]

    await world.open(works, works)
    with closing(socket.create_server(("127.0.0.1", 0), backlog=64)) as stopped:
        url = f"http://127.0.0.1:{stopped.getsockname()[1]}"
        world.gateway.add_node(NodeSpec(url=url, models=("m",), slots=8))
        world.gateway.driver.report(NodeReport(node=url, ok=True, models=("m",)))
        stuck = [await world.client() for _ in range(24)]
        row = world.dispatcher.fleet.row_of[url]
        for client in stuck:  # round robin: eight of them fill the stopped node
            client.send(chat())
        await world.until(lambda: world.dispatcher.fleet.table.outstanding[row] == 8)
        async with AsyncExitStack() as stack:
            well = await World(stack).open(works, works)
            undisturbed, disturbed = await asyncio.gather(p99(well), p99(world))
        assert disturbed <= 3 * undisturbed + 0.25
        for _ in range(4):  # its health page hangs too: what it has not begun is taken from it
            world.gateway.driver.report(NodeReport(node=url, ok=False, reason="timeout"))
        assert {(await client.response()).status for client in stuck} <= {200, 502}  # as the retry budget allows
    await world.at_rest()


@pytest.mark.parametrize("connecting", [True, False])
async def test_a_silent_node_costs_a_stream_its_patience_only(world: World, connecting: bool) -> None:
    """Connecting or waiting for the first token, another node answers after the time allowed."""
    brain = BrainSettings(first_token_floor_s=0.2, first_token_ceiling_s=0.2)
    world.clock = ManualClock()
    await world.open(stream(ROLE, TEXT, STOP, DONE), brain=brain, timeouts=Timeouts(connect_s=0.2, lame_duck_s=0))
    client = await world.client()
    assert (await client.ask(chat(stream=True))).status == 200  # its connection is kept
    with closing(socket.socket()) as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        fillers = _fill(full.getsockname()) if connecting else []
        url = f"http://127.0.0.1:{full.getsockname()[1]}"
        world.gateway.add_node(NodeSpec(url=url, models=("m",)))
        world.gateway.driver.report(NodeReport(node=url, ok=True))
        await world.until(lambda: world.dispatcher.available("m") == 2)
        row = world.dispatcher.fleet.row_of[url]
        asked = asyncio.ensure_future(_ask_twice(client))
        if not connecting:
            await world.until(lambda: world.dispatcher.fleet.table.outstanding[row] == 1)
            world.pass_time(0.2)
        assert await asked == [ROLE + TEXT + STOP + DONE] * 2
        for filler in fillers:
            filler.close()
    await world.at_rest()


async def _ask_twice(client: Client) -> list[bytes]:
    return [(await client.ask(chat(stream=True))).body for _ in range(2)]


def _fill(address: tuple[str, int]) -> list[socket.socket]:
    """Take all places of a listener that accepts nobody: further connections get no answer at all."""
    fillers = []
    for _ in range(4):
        filler = socket.socket()
        filler.setblocking(False)
        filler.connect_ex(address)
        fillers.append(filler)
    return fillers


async def test_a_plain_answer_may_take_long(world: World) -> None:
    """Four hundred seconds before the first byte: no limit on the head stands in its way."""
    world.clock = clock = ManualClock()

    async def slow(_: Received, writer: asyncio.StreamWriter) -> None:
        for _ in range(40):
            world.pass_time(10.0)
            await asyncio.sleep(0)
        writer.write(respond(b"{}"))

    await world.open(slow)
    client = await world.client()
    assert (await client.ask(chat())).status == 200
    assert clock.now() >= 400
    await world.at_rest()


async def test_a_stream_may_take_long(world: World) -> None:
    """Fifteen minutes, with a token every fifteen seconds: no limit on the whole stands in its way."""
    world.clock = clock = ManualClock()

    async def slow(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunk(ROLE))
        for _ in range(60):
            writer.write(chunk(TEXT))
            await asyncio.sleep(0.005)
            world.pass_time(15.0)
        writer.write(chunk(STOP) + chunk(DONE) + b"0\r\n\r\n")

    await world.open(slow)
    client = await world.client()
    assert (await client.ask(chat(stream=True))).body == ROLE + TEXT * 60 + STOP + DONE
    assert clock.now() >= 900
    await world.at_rest()


async def test_a_whole_request_has_a_limit(world: World) -> None:
    """A stream that never ends does, after the time for a whole request; the client's own limit is the shorter one."""
    world.clock = ManualClock()
    await world.open(stream(*[TEXT] * 10_000, gap_s=0.001), timeouts=Timeouts(total_s=20.0, lame_duck_s=0))
    client = await world.client()
    for limit_s, headers in (
        (20.0, ()),
        (20.0, ("x-request-timeout-ms: 999999",)),
        (10.0, ("x-request-timeout-ms: 10000",)),
    ):
        client.send(chat(stream=True), headers=headers)
        async with asyncio.timeout(5.0):
            await client.reader.readuntil(TEXT)
            world.pass_time(limit_s - 1.0)
            await asyncio.sleep(0.01)
            assert world.gateway.driver.open_requests == 1, "cut before its time"
            world.pass_time(1.0)
            rest = await client.reader.readuntil(b"\r\n0\r\n\r\n")
        assert b'"code":"node_timeout"' in rest
        assert rest.count(b'"error"') == 1
        assert rest.endswith(DONE + b"\r\n0\r\n\r\n")
    await world.at_rest()


async def test_time_in_the_queue_counts_for_the_clients_limit(world: World) -> None:
    await world.open(never, slots=1)
    holder, waiter = await world.client(), await world.client()
    holder.send(chat())
    await world.until(lambda: bool(world.nodes[0].requests))
    async with asyncio.timeout(5.0):
        response = await waiter.ask(chat(), headers=("x-request-timeout-ms: 100",))
    assert response.status == 504
    assert len(world.nodes[0].requests) == 1


async def test_a_slow_head_is_waited_for_as_long_as_its_first_token(world: World) -> None:
    """The node's head comes late, then its tokens: silence before the first is not silence between two."""

    world.clock = ManualClock()

    async def late(_: Received, writer: asyncio.StreamWriter) -> None:
        world.pass_time(3.0)
        writer.write(STREAM_HEAD + chunk(ROLE))
        await asyncio.sleep(0.01)
        world.pass_time(4.0)
        writer.write(chunk(TEXT) + chunk(STOP) + chunk(DONE) + b"0\r\n\r\n")

    await world.open(late, timeouts=Timeouts(between_tokens_s=1.0, lame_duck_s=0))
    client = await world.client()
    assert (await client.ask(chat(stream=True))).body == ROLE + TEXT + STOP + DONE


async def test_probes_of_a_hung_node_do_not_pile_up(world: World) -> None:
    async with ScriptedUpstream(always(respond(b"{}"))) as node:
        node.pages["/health"] = b"never"
        await world.start([NodeSpec(url=node.url)])
        for _ in range(20):
            world.gateway.driver.call(lambda now: world.dispatcher.tick(now + 10.0))
            await asyncio.sleep(0)
        await asyncio.sleep(0.05)
        assert len(node.probes) <= 1
