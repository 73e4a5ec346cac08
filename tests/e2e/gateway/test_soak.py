"""Hundreds of requests over nodes that misbehave at random, from clients that leave at random: nothing is left over."""

import asyncio
import logging
import random

import pytest

from pointsman.brain.model.settings import BrainSettings

from .conftest import Client, World, chat
from .scripted_upstream import DONE, ROLE, STREAM_HEAD, Cut, Received, chunk, event, respond, stream

REQUESTS = 400
AT_ONCE = 40


async def moody(request: Received, writer: asyncio.StreamWriter) -> None:
    """A node in a mood that the request itself decides, so that a failure can be repeated."""
    mood = random.Random(request.header("x-mood"))
    await asyncio.sleep(mood.random() * 0.005)
    kind = mood.randrange(10)
    if kind == 0:
        raise Cut
    if kind == 1:
        writer.write(respond(b"{}", mood.choice([400, 429, 500, 503])))
    elif kind == 2:
        writer.write(b"nonsense")
        raise Cut
    elif kind == 3:
        writer.write(STREAM_HEAD + chunk(ROLE) + chunk(event({"content": "x"})))
        await writer.drain()
        raise Cut
    elif not request.json().get("stream"):
        writer.write(respond(b'{"ok":true}'))
    else:
        events = [event({"content": "x"})] * mood.randrange(1, 20)
        await stream(ROLE, *events, event({}, "stop"), DONE, gap_s=0.001)(request, writer)


async def one(world: World, number: int) -> None:
    """One request; every third client leaves after a random while."""
    mood = random.Random(number)
    async with Client(world.gateway.port, world.client_tls) as client:
        client.send(chat(stream=mood.random() < 0.7), headers=(f"x-mood: {number}",))
        if number % 3 == 0:
            await asyncio.sleep(mood.random() * 0.02)
            return
        response = await client.response()
        assert response.status in (200, 400, 429, 500, 502, 503)
        if "transfer-encoding" in response.headers:
            assert response.complete
            assert response.body.endswith(DONE)
            assert response.body.count(DONE) == 1


async def test_nothing_is_left_over(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    brain = BrainSettings(fails_in_a_row=1000, fail_share=1.0)
    await world.open(moody, moody, moody, slots=8, brain=brain)
    room = asyncio.Semaphore(AT_ONCE)

    async def in_turn(number: int) -> None:
        async with room:
            await one(world, number)

    await asyncio.gather(*[in_turn(number) for number in range(REQUESTS)])
    await world.at_rest()
    assert not world.dispatcher.queued().get("m")
    fleet = world.dispatcher.fleet
    assert not fleet.columns.outstanding.any()
    assert not caplog.records
