"""Nodes that do not stop where they should: the client has one end all the same, and soon."""

import asyncio

import pytest

from pointsman.brain.model.settings import BrainSettings
from pointsman.gateway.settings import Timeouts

from .conftest import World, chat
from .scripted_upstream import DONE, ROLE, STREAM_HEAD, Cut, Received, always, chunk, event, respond

TEXT = event({"content": "Hi"})
STOP = event({}, "stop")
QUICK = Timeouts(between_tokens_s=0.2, lame_duck_s=0)


@pytest.mark.parametrize("ending", ["silence", "reset"])
@pytest.mark.parametrize("last", [[STOP, DONE], [STOP]])
async def test_a_stream_that_said_its_end_has_no_second_one(world: World, ending: str, last: list[bytes]) -> None:
    async def unended(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + b"".join(chunk(part) for part in (ROLE, TEXT, *last)))
        await writer.drain()
        await asyncio.sleep(0.05 if ending == "reset" else 30)
        raise Cut

    await world.open(unended, timeouts=QUICK)
    client = await world.client()
    response = await client.ask(chat(stream=True, stream_options={"include_usage": True}))
    assert (response.status, response.complete) == (200, True)
    assert response.body == b"".join((ROLE, TEXT, *last))
    await world.at_rest()


async def test_an_error_whose_body_does_not_end_is_soon_told(world: World) -> None:
    async def unended(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(respond(b"x" * 100, 503)[:-50])
        await asyncio.sleep(30)

    await world.open(unended, timeouts=QUICK)
    client = await world.client()
    async with asyncio.timeout(2):
        assert (await client.ask(chat())).status == 503
    await world.at_rest()


async def test_a_switch_of_protocols_is_garbage(world: World) -> None:
    await world.open(always(b"HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nx"))
    client = await world.client()
    response = await client.ask(chat())
    assert response.status == 502
    assert "garbage" in response.json()["error"]["message"]
    await world.at_rest()


async def test_what_follows_an_error_is_not_piled_up(world: World) -> None:
    sent = 0

    async def flood(_: Received, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(STREAM_HEAD + chunk(ROLE) + chunk(b'data: {"error":{"message":"x","code":507}}\n\n'))
        for _ in range(200):
            writer.write(chunk(b": %b\n\n" % (b"x" * 100_000)))
            await writer.drain()
            sent += 100_000
        writer.write(b"0\r\n\r\n")

    await world.open(flood, brain=BrainSettings(tries=1))
    client = await world.client()
    async with asyncio.timeout(3):
        assert (await client.ask(chat(stream=True))).status == 507
    assert sent == 20_000_000
    await world.at_rest()
