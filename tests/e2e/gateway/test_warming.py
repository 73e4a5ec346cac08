"""A prompt's hot beginning is sent to an engine that lacks it, which then finds it cached."""

import asyncio
from contextlib import AsyncExitStack
from itertools import count
from typing import Any

import aiohttp
import pytest

from pointsman.brain.model.cache_settings import CacheSettings
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.settings import BrainSettings
from pointsman.engine.emulator import Engine
from pointsman.engine.settings import EngineConfig

from .conftest import CHAT, World
from .scripted_upstream import Received, respond

SYSTEM = "You answer questions about the rules of the game of draughts, and about nothing else. " * 40
WARM = BrainSettings(cache=CacheSettings(warm_nodes=2, warm_hits=2.0))
CONFIG = EngineConfig(port=0, model=("m",), time_scale=10.0)


def asks(number: int, kind: str, tokens: int = 8) -> dict[str, Any]:
    question = f"Question {number}: may a man go backwards?"
    if kind == "chat":
        messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": question}]
        return {"model": "m", "messages": messages, "max_tokens": tokens, "stream": True}
    return {"model": "m", "prompt": SYSTEM + question, "max_tokens": tokens, "stream": True}


async def engines(world: World, stack: AsyncExitStack) -> list[str]:
    started = [await stack.enter_async_context(Engine(CONFIG)) for _ in range(2)]
    urls = [f"http://127.0.0.1:{engine.port}" for engine in started]
    world.policy = "prefix_affinity"
    await world.start([NodeSpec(url=url) for url in urls], WARM)
    await world.until(lambda: world.dispatcher.available("m") == 2)
    return urls


@pytest.mark.parametrize(("kind", "path"), [("chat", CHAT), ("completion", "/v1/completions")])
async def test_another_engine_computes_the_shared_beginning(world: World, kind: str, path: str) -> None:
    async with AsyncExitStack() as stack:
        urls = await engines(world, stack)
        session = await stack.enter_async_context(aiohttp.ClientSession())
        client = await world.client()
        for number in range(6):
            assert (await client.ask(asks(number, kind), path)).status == 200
        long = asks(6, kind, tokens=20_000) | {"ignore_eos": True}
        client.send(long, path)  # it is open when hot prefixes are looked for next, however slow the machine
        await world.until(lambda: any(result == "ok" for *_, result in world.metrics.warmups))
        client.writer.transport.abort()
        ((_, node, _),) = [key for key, count in world.metrics.warmups.items() if count]
        assert node in urls
        answer = await session.post(node + path, json=asks(99, kind) | {"stream": False})
        usage = (await answer.json())["usage"]
        assert usage["prompt_tokens_details"]["cached_tokens"] > 0.8 * len(SYSTEM) / 4


async def test_an_engine_that_refuses_is_not_believed_to_hold_it(world: World) -> None:
    refused, asked = asyncio.Event(), count()

    async def script(request: Received, writer: asyncio.StreamWriter) -> None:
        if request.json()["max_tokens"] == 1:
            refused.set()
            writer.write(respond(b"{}", status=500))
            return
        if next(asked) > 3:  # by now its beginning is hot: it stays open until that was sent elsewhere
            await asyncio.wait_for(refused.wait(), 10)
        writer.write(respond(b'{"choices":[]}'))

    world.policy = "prefix_affinity"
    await world.open(script, script, brain=WARM)
    client = await world.client()
    for number in range(6):
        await client.ask(asks(number, "chat") | {"stream": False})
    await world.until(lambda: any(result == "failed" for *_, result in world.metrics.warmups))
    index = world.dispatcher.placement.index
    assert min(index.held(0), index.held(1)) == 0
