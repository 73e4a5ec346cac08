"""Emulated engines that obey, behind a gateway: what it orders is done, what it takes them to hold they hold."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import aiohttp
import pytest

from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.model.tenant import ANYONE
from pointsman.engine.emulator import Engine
from pointsman.engine.settings import EngineConfig
from pointsman.gateway.settings import ClientTenant, Resuming

from .conftest import World

COMPLETIONS = "/v1/completions"
CONFIG: dict[str, Any] = {
    "port": 0,
    "model": ("m",),
    "time_scale": 20.0,
    "prefill_tokens_per_second": 1e5,
    "decode_base_ms": 20.0,
    "kv_blocks": 400,
    "obeys": True,
}


TENANTS = (ClientTenant(name=ANYONE, priority_ceiling=9.0),)


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


async def engine(world: World, stack: AsyncExitStack, brain: BrainSettings, **more: Any) -> "Held":
    """A gateway before one engine that it commands."""
    started = await stack.enter_async_context(Engine(EngineConfig(**(CONFIG | more))))
    world.policy = "greedy"
    url = f"http://127.0.0.1:{started.port}"
    await world.start([NodeSpec(url=url, residency="commanded")], brain, resuming=Resuming("text"), tenants=TENANTS)
    await world.until(lambda: world.dispatcher.available("m") == 1)
    return Held(url, started, await stack.enter_async_context(aiohttp.ClientSession()))


class Held:
    """What the engine says that it holds."""

    def __init__(self, url: str, engine: Engine, session: aiohttp.ClientSession) -> None:
        self._url = url
        self._engine = engine
        self._session = session

    def slow_down(self, factor: float) -> None:
        """Let it take so many times longer for what it does from now on."""
        assert self._engine.driver is not None
        self._engine.driver.slow_down(factor)

    async def kv(self) -> dict[str, Any]:
        async with self._session.get(self._url + "/kv") as answer:
            told: dict[str, Any] = await answer.json()
            return told


def prompt(subject: str, words: int = 900) -> dict[str, Any]:
    text = " ".join(f"{subject}{number}" for number in range(words))
    return {"model": "m", "prompt": text, "max_tokens": 4, "ignore_eos": True}


async def test_what_the_gateway_gives_up_the_engine_evicts(world: World, stack: AsyncExitStack) -> None:
    held = await engine(world, stack, BrainSettings())
    client = await world.client()
    for subject in ("apple", "berry", "cedar", "daisy", "elder", "frond"):
        assert (await client.ask(prompt(subject), COMPLETIONS)).status == 200
    await world.at_rest()
    commanding, index = world.dispatcher.placement.commanding, world.dispatcher.placement.index
    await world.until(lambda: not commanding._open)
    ordered = {labels[1]: count for labels, count in world.metrics.kv_orders.items() if labels[2] == "carried"}
    assert ordered["evict"] >= 2
    assert not world.metrics.kv_lost_links, "the engine never had to choose by itself"
    told = await held.kv()
    per_link = commanding._per_link[0]
    assert told["named"] == pytest.approx(index.held(0) * per_link, rel=0.15)
    again = await client.ask(prompt("frond"), COMPLETIONS)
    usage = json.loads(again.body)["usage"]
    assert usage["prompt_tokens_details"]["cached_tokens"] > 0.9 * usage["prompt_tokens"]
    gone = await client.ask(prompt("apple"), COMPLETIONS)
    assert json.loads(gone.body)["usage"]["prompt_tokens_details"]["cached_tokens"] == 0


def stream(subject: str, words: int, output: int) -> dict[str, Any]:
    return prompt(subject, words) | {"stream": True, "max_tokens": output}


def text_of(body: bytes) -> str:
    events = [json.loads(line[6:]) for line in body.split(b"\n") if line.startswith(b"data: {")]
    return "".join(choice["text"] for event in events for choice in event["choices"])


async def test_who_gives_way_is_copied_out_and_goes_on_as_if_nothing_had_been(
    world: World, stack: AsyncExitStack
) -> None:
    brain = BrainSettings(preemption="on", order="priority")
    held = await engine(world, stack, brain, swap_memory_gib=4.0, kv_blocks=300, prefill_tokens_per_second=5e3)
    patient, urgent = await world.client(), await world.client()
    undisturbed = text_of((await urgent.ask(stream("patient", 1200, 900), COMPLETIONS)).body)
    held.slow_down(4.0)  # much is to come of the first when the other arrives, whatever else the machine does
    asked = asyncio.ensure_future(patient.ask(stream("patient", 1200, 900), COMPLETIONS))
    await world.until(lambda: any(lease.tokens > 32 for lease in world.dispatcher._leases.values()))
    urgent.send(stream("urgent", 1000, 8), COMPLETIONS, headers=("x-pointsman-priority: 9",))
    await world.until(lambda: sum(world.metrics.interruptions.values()) == 1)
    held.slow_down(1.0)
    assert (await urgent.response()).status == 200
    answer = await asked
    assert text_of(answer.body) == undisturbed
    assert sum(world.metrics.interruptions.values()) == 1
    blocks = {labels[1]: count for labels, count in world.metrics.kv_order_blocks.items()}
    assert blocks["swap_out"] > 50
    assert (await held.kv())["tiers"][0]["free"] == (await held.kv())["tiers"][0]["blocks"], "all was copied back"
    await world.at_rest()


async def test_an_engine_that_takes_no_orders_is_believed(world: World, stack: AsyncExitStack) -> None:
    await engine(world, stack, BrainSettings(), obeys=False)
    client = await world.client()
    assert (await client.ask(prompt("apple"), COMPLETIONS)).status == 200
    ((labels, _),) = world.metrics.residency_changes.items()
    assert labels[1] == "believed"
    assert not world.metrics.kv_orders


async def test_a_prompt_that_is_pinned_stays_cached_whatever_else_comes(world: World, stack: AsyncExitStack) -> None:
    held = await engine(world, stack, BrainSettings())
    client = await world.client()
    assert (await client.ask(prompt("apple"), COMPLETIONS)).status == 200
    body = json.dumps(prompt("apple")).encode()
    (order,) = world.gateway.pin(COMPLETIONS, body, (), keep=True)
    await world.until(lambda: not world.dispatcher.placement.commanding._open)
    for subject in ("berry", "cedar", "daisy", "elder"):
        assert (await client.ask(prompt(subject), COMPLETIONS)).status == 200
    assert (await held.kv())["pinned"] > 100
    again = json.loads((await client.ask(prompt("apple"), COMPLETIONS)).body)["usage"]
    assert again["prompt_tokens_details"]["cached_tokens"] > 0.95 * again["prompt_tokens"]
    assert world.gateway.pin(COMPLETIONS, body, (order.node.name,), keep=False)
    await world.until(lambda: not world.dispatcher.placement.commanding._open)
    assert (await held.kv())["pinned"] == 0
