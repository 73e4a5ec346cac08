"""Nodes are taken out and put back while requests run, and no request notices."""

import asyncio
from contextlib import AsyncExitStack

from pointsman.brain.model.node import NodeSpec, NodeState

from .conftest import Client, World, chat
from .scripted_upstream import DONE, ROLE, ScriptedUpstream, event, standing, stream

TEXT = event({"content": "Hi"})
STOP = event({}, "stop")
ANSWER = stream(ROLE, *[TEXT] * 5, STOP, DONE, gap_s=0.002)


def state(world: World, url: str) -> NodeState:
    return NodeState(world.dispatcher.fleet.states[world.dispatcher.fleet.row_of[url]])


async def test_a_drained_node_finishes_and_gets_nothing_new(world: World) -> None:
    go = asyncio.Event()
    await world.open(standing(go, ROLE, *[TEXT] * 50, STOP, DONE), ANSWER)
    leaving, other = world.nodes
    client, another = await world.client(), await world.client()
    client.send(chat(stream=True))
    await client.reader.readuntil(b"Hi")
    if not leaving.requests:
        leaving, other = other, leaving
    world.gateway.driver.call(lambda now: world.dispatcher.drain(leaving.url, now))
    for _ in range(4):
        assert (await another.ask(chat(stream=True))).complete
    assert (len(leaving.requests), len(other.requests)) == (1, 4)
    assert state(world, leaving.url) is NodeState.DRAINING
    world.gateway.driver.call(lambda now: world.dispatcher.remove_node(leaving.url, now))
    assert leaving.url in world.dispatcher.fleet.row_of, "it still finishes what it has"
    go.set()
    assert (await client.reader.readuntil(b"\r\n0\r\n\r\n")).endswith(DONE + b"\r\n0\r\n\r\n")
    await world.until(lambda: leaving.url not in world.dispatcher.fleet.row_of)
    await world.at_rest()


async def test_an_undrained_node_works_again(world: World) -> None:
    await world.open(ANSWER)
    client = await world.client()
    url = world.nodes[0].url
    world.gateway.driver.call(lambda now: world.dispatcher.drain(url, now))
    client.send(chat(stream=True))
    await world.until(lambda: world.dispatcher.queued().get("m") == 1)
    world.gateway.driver.call(lambda now: world.dispatcher.undrain(url, now))
    assert (await client.response()).body == ROLE + TEXT * 5 + STOP + DONE


async def test_engines_restarted_one_after_the_other_fail_no_request(world: World) -> None:
    """Drained, removed, stopped, started elsewhere and added again, all under load."""
    stop = asyncio.Event()
    answers: list[bytes] = []

    async def load() -> None:
        async with Client(world.gateway.port, world.client_tls) as client:
            while not stop.is_set():
                response = await client.ask(chat(stream=True))
                assert response.status == 200
                answers.append(response.body)

    async with AsyncExitStack() as stack:
        await world.open(ANSWER, ANSWER, ANSWER)
        callers = [asyncio.ensure_future(load()) for _ in range(12)]
        for old in world.nodes:
            world.gateway.driver.call(lambda now: world.dispatcher.remove_node(old.url, now))  # noqa: B023
            await world.until(lambda: old.url not in world.dispatcher.fleet.row_of)  # noqa: B023
            await old.close()
            new = await stack.enter_async_context(ScriptedUpstream(ANSWER))
            world.gateway.add_node(NodeSpec(url=new.url))
            await world.until(lambda: world.dispatcher.available("m") == 3)
            await world.until(lambda: len(new.requests) > 3)  # noqa: B023
        await world.until(lambda: len(answers) > 50)
        stop.set()
        await asyncio.gather(*callers)
    assert set(answers) == {ROLE + TEXT * 5 + STOP + DONE}
    await world.at_rest()
