"""Nodes fail in every way they know; the client sees one answer, or one honest end."""

import asyncio
import json
from typing import Any

from pointsman.brain.model.orders import Probe
from pointsman.brain.model.settings import BrainSettings
from pointsman.clock import ManualClock
from pointsman.gateway.settings import Limits, Timeouts

from .conftest import SOON_S, Connect, World, chat
from .scripted_upstream import (
    DONE,
    HANG,
    ROLE,
    STREAM_HEAD,
    Cut,
    Received,
    always,
    chunk,
    event,
    never,
    respond,
    stream,
)

GOOD = always(respond(b'{"good":true}'))
TEXT = event({"content": "Hi"})
STOP = event({}, "stop")


async def cut(_: Received, writer: asyncio.StreamWriter) -> None:
    raise Cut


async def both_orders(world: World, bad: object, **asked: object) -> None:
    """Two requests over a bad and a good node: whichever is tried first, both succeed."""
    await world.open(bad, GOOD)  # type: ignore[arg-type]
    client = await world.client()
    for _ in range(2):
        response = await client.ask(chat(**asked))
        assert (response.status, response.body) == (200, b'{"good":true}')
    assert world.nodes[0].requests
    assert world.nodes[0].requests[0].body == world.nodes[1].requests[0].body
    await world.at_rest()


async def test_500_is_tried_elsewhere(world: World) -> None:
    await both_orders(world, always(respond(b"{}", 500)))


async def test_429_is_tried_elsewhere(world: World) -> None:
    await both_orders(world, always(respond(b"{}", 429)))


async def test_reset_is_tried_elsewhere(world: World) -> None:
    await both_orders(world, cut)


async def test_garbage_is_tried_elsewhere(world: World) -> None:
    await both_orders(world, always(b"hello\r\n\r\n"))


async def test_inband_error_before_content_is_tried_elsewhere(world: World) -> None:
    await both_orders(world, stream(ROLE, b'data: {"error":{"message":"x","code":500}}\n\n', DONE), stream=True)


async def test_stream_without_content_is_tried_elsewhere(world: World) -> None:
    await both_orders(world, stream(ROLE, end=False), stream=True)


async def test_refused_connection_is_tried_elsewhere(world: World) -> None:
    await world.open(GOOD, GOOD)
    await world.nodes[0].close()
    client = await world.client()
    for _ in range(4):
        assert (await client.ask(chat())).status == 200


async def test_the_nodes_own_error_when_all_fail(world: World) -> None:
    await world.open(*[always(respond(b'{"error":"out of memory"}', 500))] * 2)
    client = await world.client()
    response = await client.ask(chat())
    assert (response.status, response.body) == (500, b'{"error":"out of memory"}')
    assert all(len(node.requests) == 1 for node in world.nodes)
    await world.at_rest()


async def test_client_errors_pass_and_are_not_repeated(world: World) -> None:
    await world.open(*[always(respond(b'{"error":"too long"}', 400))] * 2)
    client = await world.client()
    response = await client.ask(chat())
    assert (response.status, response.body) == (400, b'{"error":"too long"}')
    assert sum(len(node.requests) for node in world.nodes) == 1


async def test_a_401_of_the_node_is_our_502(world: World) -> None:
    await world.open(always(respond(b'{"error":"bad key k"}', 401)))
    client = await world.client()
    response = await client.ask(chat())
    assert response.status == 502
    assert response.json()["error"]["code"] == "node_failed"
    assert b"bad key" not in response.body


async def test_cut_stream_ends_with_one_error_and_done(world: World) -> None:
    await world.open(stream(ROLE, TEXT, b'data: {"cho', end=False))
    client = await world.client()
    response = await client.ask(chat(stream=True))
    assert response.complete
    assert response.body.startswith(ROLE + TEXT)
    error, done = response.body.removeprefix(ROLE + TEXT).split(b"\n\n")[:2]
    assert json.loads(error.removeprefix(b"data: "))["error"]["code"] == "node_failed"
    assert done + b"\n\n" == DONE
    await world.at_rest()


async def test_stream_that_ends_without_finish_is_a_failure(world: World) -> None:
    await world.open(stream(ROLE, TEXT))
    client = await world.client()
    response = await client.ask(chat(stream=True))
    assert response.complete
    assert b'"node_failed"' in response.body
    assert response.body.endswith(DONE)


async def test_finish_for_every_choice_without_done_is_success(world: World) -> None:
    events = [ROLE, TEXT, event({"content": "a"}, "stop", 1), STOP]
    await world.open(stream(*events))
    client = await world.client()
    response = await client.ask(chat(stream=True, n=2))
    assert response.body == b"".join(events)


async def test_inband_error_after_content_is_relayed(world: World) -> None:
    error = b'data: {"error":{"message":"late","code":500}}\n\n'
    await world.open(stream(ROLE, TEXT, error, DONE), GOOD)
    client = await world.client()
    bodies = [(await client.ask(chat(stream=True))).body for _ in range(2)]
    assert ROLE + TEXT + error + DONE in bodies


async def test_inband_client_error_before_content_gets_its_status(world: World) -> None:
    await world.open(stream(ROLE, b'data: {"error":{"message":"too long","code":400}}\n\n', DONE))
    client = await world.client()
    response = await client.ask(chat(stream=True))
    assert response.status == 400
    assert response.json()["error"]["message"] == "too long"
    assert response.headers["content-type"] == "application/json"


async def test_cut_plain_answer_is_broken_off(world: World) -> None:
    seen = asyncio.Event()

    async def half(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(respond(b"x" * 100)[:-50])
        await seen.wait()
        raise Cut

    await world.open(half)
    client = await world.client()
    client.send(chat())
    await client.reader.readuntil(b"\r\n\r\n")
    seen.set()
    assert await asyncio.wait_for(client.reader.read(), SOON_S) == b"x" * 50
    await world.at_rest()


async def test_dead_kept_connection_gets_a_free_second_try(world: World) -> None:
    """The engine closes an idle connection just when a request is sent on it."""
    served: list[asyncio.StreamWriter] = []

    async def once(_: Received, writer: asyncio.StreamWriter) -> None:
        if writer in served:
            raise Cut
        served.append(writer)
        writer.write(respond(b"{}"))

    await world.open(once, brain=BrainSettings(tries=1))
    client = await world.client()
    for _ in range(3):
        assert (await client.ask(chat())).status == 200


async def test_first_token_timeout(world: World) -> None:
    world.clock = ManualClock()
    await world.open(never, brain=BrainSettings(first_token_floor_s=5.0, first_token_ceiling_s=5.0, tries=1))
    client = await world.client()
    client.send(chat(stream=True))
    await world.until(lambda: bool(world.nodes[0].requests))
    world.pass_time(5.0)
    assert (await client.response()).status == 504
    assert await asyncio.wait_for(world.nodes[0].left.wait(), SOON_S)


async def test_silence_between_tokens(world: World) -> None:
    async def stall(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunk(ROLE) + chunk(TEXT))
        await asyncio.sleep(60)

    world.clock = ManualClock()
    await world.open(stall, timeouts=Timeouts(between_tokens_s=5.0, lame_duck_s=0))
    client = await world.client()
    client.send(chat(stream=True))
    await client.reader.readuntil(b"Hi")
    world.pass_time(0.0)  # what came is noted, and the silence begins
    world.pass_time(5.0)
    assert b"token_timeout" in await asyncio.wait_for(client.reader.readuntil(b"\r\n0\r\n\r\n"), SOON_S)


async def test_the_clients_own_limit(world: World) -> None:
    world.clock = ManualClock()
    await world.open(never)
    client = await world.client()
    client.send(chat(), headers=("x-request-timeout-ms: 100",))
    await world.until(lambda: bool(world.nodes[0].requests))
    world.pass_time(0.1)
    assert (await client.response()).status == 504
    await asyncio.wait_for(world.nodes[0].left.wait(), SOON_S)
    await world.at_rest()


async def test_a_whole_answer_counts_whatever_follows_it(world: World) -> None:
    """In one read with it; the connection is not used again."""
    await world.open(always(respond(b'{"good":true}') + b"\x00and more\r\n"))
    client = await world.client()
    for tries in (1, 2):
        response = await client.ask(chat())
        assert (response.status, response.body, response.complete) == (200, b'{"good":true}', True)
        assert world.nodes[0].connections == len(world.nodes[0].requests) == tries


async def test_a_connection_lost_before_it_was_used_fails_the_try(world: World, connecting: Connect) -> None:
    """A node that accepts and resets at once; nobody waits for the answer that cannot come."""

    async def lost_at_once(loop: asyncio.AbstractEventLoop, *arguments: Any, **named: Any) -> tuple[Any, Any]:
        transport, protocol = await loop.create_connection(*arguments, **named)
        transport.abort()
        return transport, protocol

    await world.open(GOOD, brain=BrainSettings(tries=1), limits=Limits(idle_connections=0))
    client = await world.client()
    connecting(lost_at_once)
    assert (await client.ask(chat())).status == 502
    await world.at_rest()


async def test_an_engines_retry_after_is_passed_on_when_nobody_else_helps(world: World) -> None:
    await world.open(*[always(respond(b'{"error":"full"}', 429, extra="retry-after: 7\r\n"))] * 2)
    client = await world.client()
    response = await client.ask(chat())
    assert (response.status, response.headers["retry-after"], response.body) == (429, "7", b'{"error":"full"}')
    assert all(len(node.requests) == 1 for node in world.nodes)
    for _ in range(20):
        await client.ask(chat())
    assert world.dispatcher.available() == 2, "back-pressure opens no breaker"


async def test_a_node_that_hangs_is_found_by_its_probes_and_what_hangs_there_goes_elsewhere(world: World) -> None:
    """As a stopped process does: its kernel still takes connections."""
    await world.open(never, GOOD)
    stuck, client = await world.client(), await world.client()
    stuck.send(chat(), headers=("x-request-id: stuck",))
    await world.until(lambda: bool(world.nodes[0].requests))
    world.nodes[0].pages["/health"] = HANG
    probes = world.gateway._probes
    await world.until(lambda: not probes._running)
    probes.configure(Timeouts(probe_s=0.1))
    async with asyncio.timeout(SOON_S):
        while str(world.dispatcher.fleet.states[0]) != "down":  # two make it suspect, two more take it out
            world.gateway.driver.call(lambda now: [Probe(world.dispatcher.fleet.spec(0))])
            await world.until(lambda: not probes._running)
    assert (await stuck.response()).body == b'{"good":true}'
    for _ in range(4):
        assert (await client.ask(chat())).status == 200
    assert len(world.nodes[0].requests) == 1


async def test_a_stream_that_has_said_done_is_over_though_its_body_does_not_end(world: World) -> None:
    async def lingering(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunk(ROLE) + chunk(TEXT) + chunk(STOP) + chunk(DONE))
        await (ends.wait() if not world.nodes[0].requests[1:] else asyncio.sleep(60))
        writer.write(b"0\r\n\r\n")

    ends = asyncio.Event()
    await world.open(lingering)
    client = await world.client()
    pool = world.gateway._targets.of(world.dispatcher.fleet.spec(0)).pool
    kept = len(pool._idle)
    for _ in range(2):
        response = await client.ask(chat(stream=True))
        assert (response.complete, response.body) == (True, ROLE + TEXT + STOP + DONE)
        await world.at_rest()
        assert world.dispatcher.membership.health.records[0].fails_in_a_row == 0
        ends.set()
        await world.until(lambda: len(pool._idle) == kept or len(world.nodes[0].requests) == 2)  # it is free again
    assert world.nodes[0].connections == 1
    await asyncio.wait_for(world.nodes[0].left.wait(), SOON_S)
