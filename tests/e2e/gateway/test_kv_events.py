"""A gateway before emulated engines that publish KV events over ZMQ."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import aiohttp
import pytest

from pointsman.brain.model.facts import CacheReported, NodeChanged
from pointsman.brain.model.milestones import Ended
from pointsman.brain.model.node import NodeSpec
from pointsman.engine.emulator import Engine
from pointsman.engine.settings import EngineConfig

from .conftest import Client, World

pytest.importorskip("zmq", reason="KV events need pyzmq: pip install 'pointsman[kv-events]'")

TEXT = "When a train comes, somebody has set the points before. " * 20
IDS = [300 + number % 7 for number in range(100)]
FAST: dict[str, Any] = {
    "port": 0, "model": ("m",), "overhead_ms": 0, "speed": 100.0, "kv_blocks": 200, "max_model_len": 1000,
    "kv_events": "tcp://127.0.0.1:*", "kv_replay": "tcp://127.0.0.1:*", "shutdown_seconds": 0.1,
}  # fmt: skip


class Fleet:
    """Emulated engines that report, a gateway before them, and what it foretold of requests that ended."""

    def __init__(self, world: World, stack: AsyncExitStack) -> None:
        self.world = world
        self.stack = stack
        self.engines: list[Engine] = []
        self.ended: list[Ended] = []
        self.changes: list[CacheReported] = []

    async def open(self, count: int = 2, **options: Any) -> "Fleet":
        self.world.policy = "prefix_affinity"
        for _ in range(count):
            self.engines.append(await self.stack.enter_async_context(Engine(EngineConfig(**FAST | options))))
        await self.world.start([self.spec(number) for number in range(count)])
        self.world.dispatcher.subscribe({Ended: self.ended.append, CacheReported: self.changes.append})
        index = self.world.dispatcher.placement.residency.index
        await self.world.until(lambda: self.world.dispatcher.available() == count and len(index.whole) == count)
        self.client = await self.world.client()
        return self

    def spec(self, number: int) -> NodeSpec:
        engine = self.engines[number]
        assert engine.publisher is not None
        return NodeSpec(
            url=f"http://127.0.0.1:{engine.port}", id=f"n{number}", residency="reported",
            kv_events=engine.publisher.address, kv_replay=engine.publisher.replay_address,
        )  # fmt: skip

    async def ask(self, prompt: Any, client: Client | None = None, **more: Any) -> Any:
        """The answer to a completion, once the node's events are in."""
        body = {"model": "m", "prompt": prompt, "max_tokens": 4, **more}
        response = await (client or self.client).ask(body, path="/v1/completions")
        assert response.status == 200, response.body
        await self.world.until(lambda: all(self.held(number) for number in range(len(self.engines))))
        return response

    def foretold(self) -> list[tuple[str, int, int | None]]:
        """Node, tokens foretold as cached, and tokens that were, of each request."""
        return [(fact.node, fact.overlap_tokens, fact.outcome.cached_tokens) for fact in self.ended]

    def held(self, number: int) -> bool:
        """Whether what the gateway has of a node is what is there: blocks of 16 tokens are links as they are."""
        listening = self.world.gateway._listening._open[f"n{number}"]
        driver = self.engines[number].driver
        assert driver is not None
        return listening._follower.cache._blocks.keys() == driver.core.pool._references.keys()


@pytest.fixture
async def fleet(world: World) -> AsyncIterator[Fleet]:
    async with AsyncExitStack() as stack:
        yield Fleet(world, stack)


async def test_a_prompt_of_token_ids_is_foretold_exactly(fleet: Fleet) -> None:
    await fleet.open()
    await fleet.ask(IDS)
    await fleet.ask(IDS + IDS)
    (first, none, _), (second, overlap, cached) = fleet.foretold()
    assert (none, first, overlap, cached) == (0, second, 96, 96)
    assert all(fleet.held(number) for number in range(2))


@pytest.mark.parametrize("stream", [False, True])
async def test_a_text_is_known_by_its_tokens_the_second_time_and_no_client_sees_them(
    fleet: Fleet, stream: bool
) -> None:
    await fleet.open()
    for text in (TEXT, TEXT, TEXT + "And more. " * 40):
        answer = await fleet.ask(text, stream=stream)
        assert b"token_ids" not in answer.body
        assert answer.complete
    if not stream:
        assert json.loads(answer.body)["usage"]["completion_tokens"] == 4
    residency = fleet.world.dispatcher.placement.residency
    assert (residency.by_belief, residency.by_report) == (1, 2)
    (_, none, _), (_, again, cached), (_, longer, _) = fleet.foretold()
    assert none == 0
    assert cached is not None
    assert again - 16 <= cached <= again
    assert again * 0.8 <= longer <= again


async def test_a_client_that_asks_for_token_ids_gets_them(fleet: Fleet) -> None:
    await fleet.open(1)
    answer = await fleet.ask(TEXT, return_token_ids=True)
    assert b"prompt_token_ids" in answer.body


async def test_of_a_cleared_engine_nothing_is_expected(fleet: Fleet) -> None:
    await fleet.open(1)
    await fleet.ask(IDS)
    async with aiohttp.ClientSession() as session:
        await session.post(f"http://127.0.0.1:{fleet.engines[0].port}/admin/reset")
    await fleet.ask(list(range(1000, 1050)))
    await fleet.ask(IDS)
    assert [overlap for _, overlap, _ in fleet.foretold()] == [0, 0, 0]
    assert any(fact.change.cleared for fact in fleet.changes)
    assert fleet.held(0)


async def test_what_is_evicted_is_known_to_be(fleet: Fleet) -> None:
    """Belief would have the first prompt there: it knows nothing of how much room others took."""
    await fleet.open(1, kv_blocks=64)
    await fleet.ask(IDS)
    async with aiohttp.ClientSession() as session:
        for number in range(5):
            body = {"model": "m", "prompt": list(range(1000 * number, 1000 * number + 400)), "max_tokens": 2}
            await session.post(f"http://127.0.0.1:{fleet.engines[0].port}/v1/completions", json=body)
    await fleet.world.until(lambda: fleet.held(0))
    await fleet.ask(IDS)
    assert fleet.foretold()[-1][1:] == (0, 0)


async def test_an_engine_that_comes_back_is_known_from_its_beginning(fleet: Fleet) -> None:
    await fleet.open(1)
    await fleet.ask(IDS)
    old = fleet.engines[0]
    assert old.publisher is not None
    events, replay, port = old.publisher.address, old.publisher.replay_address, old.port
    await old.__aexit__()
    options = FAST | {"port": port, "kv_events": events, "kv_replay": replay}
    fleet.engines[0] = engine = await fleet.stack.enter_async_context(Started(options))
    async with aiohttp.ClientSession() as session:
        body = {"model": "m", "prompt": IDS[:50], "max_tokens": 2}
        async with session.post(f"http://127.0.0.1:{engine.port}/v1/completions", json=body) as response:
            assert response.status == 200
    await fleet.world.until(lambda: fleet.held(0))
    index = fleet.world.dispatcher.placement.residency.index
    await fleet.world.until(lambda: index.held(0) == 3)
    assert index.whole == {0}


class Started:
    """An engine whose addresses are free only when ZMQ has let go of them, in a thread of its own."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.engine = Engine(EngineConfig(**options))

    async def __aenter__(self) -> Engine:
        async with asyncio.timeout(20.0):
            while True:
                try:
                    return await self.engine.__aenter__()
                except OSError:
                    await asyncio.sleep(0.05)

    async def __aexit__(self, *_: object) -> None:
        await self.engine.__aexit__()


async def test_a_node_that_leaves_is_listened_to_no_more(fleet: Fleet) -> None:
    await fleet.open(2)
    world = fleet.world

    world.dispatcher.subscribe({NodeChanged: world.gateway.node_changed})
    world.gateway.driver.call(lambda now: world.dispatcher.remove_node("n1", now))
    await world.until(lambda: list(world.gateway._listening._open) == ["n0"])
