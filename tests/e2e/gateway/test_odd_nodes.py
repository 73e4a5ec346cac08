"""Nodes that do not stop where they should: the client has one end all the same, and soon."""

import asyncio

import pytest
from tests.support.answers import BODY, BROKEN, ODD, SURPLUS

from pointsman.brain.model.settings import BrainSettings
from pointsman.gateway.settings import Timeouts

from .conftest import SOON_S, World, chat
from .scripted_upstream import DONE, ROLE, STREAM_HEAD, Cut, Received, Script, always, chunk, event, respond

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
    async with asyncio.timeout(SOON_S):
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
    async with asyncio.timeout(SOON_S):
        assert (await client.ask(chat(stream=True))).status == 507
    assert sent == 20_000_000
    await world.at_rest()


def dripping(answers: dict[str, bytes], limit: int = 300) -> Script:
    """Answers by the name a request gives: whole, or byte by byte as far as `limit`; then the connection is closed."""

    async def script(request: Received, writer: asyncio.StreamWriter) -> None:
        asked = request.json()
        raw = answers[asked["seed"]]
        if asked["slow"]:
            for at in range(min(len(raw), limit)):
                writer.write(raw[at : at + 1])
                await asyncio.sleep(0)
            raw = raw[limit:]
        writer.write(raw)
        await writer.drain()
        writer.write_eof()
        await asyncio.sleep(30)

    return script


@pytest.mark.parametrize("slow", [False, True])
async def test_an_answer_that_could_be_read_in_two_ways_is_refused_or_cut(world: World, slow: bool) -> None:
    await world.open(dripping(BROKEN), brain=BrainSettings(tries=1))
    client = await world.client()  # one connection for all: an answer too many would be taken for the next one
    for name in BROKEN:
        response = await client.ask(chat(seed=name, slow=slow))
        assert (name, response.status == 502 or (slow and not response.complete)) == (name, True)
        if not response.complete:  # it had begun to pass when its fault showed
            client = await world.client()
    assert len(world.nodes[0].requests) == len(BROKEN)
    await world.at_rest()


@pytest.mark.parametrize("slow", [False, True])
async def test_what_comes_behind_an_answer_is_not_the_next_one(world: World, slow: bool) -> None:
    await world.open(dripping(SURPLUS | ODD), brain=BrainSettings(tries=1))
    client = await world.client()
    for name in SURPLUS:
        response = await client.ask(chat(seed=name, slow=slow))
        assert (name, response.status // 100 in (2, 3), response.complete) == (name, True, True)
        response = await client.ask(chat(seed="no reason", slow=False))
        assert (name, response.status, response.body) == (name, 200, BODY)
    await world.at_rest()


@pytest.mark.parametrize("slow", [False, True])
async def test_an_odd_answer_passes(world: World, slow: bool) -> None:
    await world.open(dripping(ODD), brain=BrainSettings(tries=1))
    client = await world.client()
    for name in ODD:
        response = await client.ask(chat(seed=name, slow=slow))
        assert (name, response.status, response.body) == (name, 200, BODY)
    await world.at_rest()
