"""A stream whose node is lost goes on elsewhere: its client reads what it would have read undisturbed."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import aiohttp
import pytest

from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.orders import Abort
from pointsman.brain.model.settings import BrainSettings
from pointsman.engine.emulator import Engine
from pointsman.engine.settings import EngineConfig
from pointsman.gateway.settings import Resuming
from pointsman.wire.openai.resumable import Mode

from .conftest import CHAT, World, chat
from .scripted_upstream import DONE, Received, event, respond, stream

COMPLETIONS = "/v1/completions"
CONFIG = EngineConfig(port=0, model=("m",), time_scale=20.0, prefill_tokens_per_second=1e6, decode_base_ms=20.0)
_USAGE = re.compile(rb'data: [^\n]*"choices":\[\],[^\n]*\n\n')
_VARIES = re.compile(rb'"created":[0-9]+|"cached_tokens":[0-9]+')


class Fleet:
    """Four emulated engines behind a gateway."""

    def __init__(self, world: World, engines: list[Engine], session: aiohttp.ClientSession) -> None:
        self.world = world
        self._engines = engines
        self.urls = [f"http://127.0.0.1:{engine.port}" for engine in engines]
        self._session = session

    async def ask(self, body: dict[str, Any], path: str) -> bytes:
        """The stream a client reads, but for what differs between any two requests."""
        client = await self.world.client()
        answer = await client.ask(body, path, headers=("x-request-id: r",))
        assert (answer.status, answer.complete) == (200, True), answer
        return _VARIES.sub(b"", answer.body)

    def slow_down(self, factor: float) -> None:
        """Let every engine take so many times longer for what it does from now on."""
        for engine in self._engines:
            assert engine.driver is not None
            engine.driver.slow_down(factor)

    async def lose(self, events: int, engines: int = 4) -> None:
        """So many engines break their next stream after `events` events, the others none."""
        for url in self.urls:
            await self._session.delete(url + "/admin/faults")
        for url in self.urls[:engines]:
            await self._session.post(
                url + "/admin/faults", json={"kind": "reset_after_events", "n": events, "count": 1}
            )


async def fleet(world: World, stack: AsyncExitStack, mode: Mode) -> Fleet:
    engines = [await stack.enter_async_context(Engine(CONFIG)) for _ in range(4)]
    patient = BrainSettings(fails_in_a_row=1000, fail_share=1.0)
    there = Fleet(world, engines, await stack.enter_async_context(aiohttp.ClientSession()))
    await world.start([NodeSpec(url=url) for url in there.urls], patient, resuming=Resuming(mode))
    await world.until(lambda: world.dispatcher.available("m") == len(engines))
    return there


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


def completion(**more: Any) -> dict[str, Any]:
    return {"model": "m", "prompt": "Once upon a time", "max_tokens": 12, "stream": True, **more}


WANTS_USAGE = {"stream_options": {"include_usage": True}}
CASES = [
    ("text", COMPLETIONS, completion()),
    ("text", COMPLETIONS, completion(ignore_eos=True, min_tokens=5, **WANTS_USAGE)),
    ("tokens", COMPLETIONS, completion(**WANTS_USAGE)),
    ("tokens", COMPLETIONS, completion(return_token_ids=True)),
    ("tokens", CHAT, chat(stream=True, max_tokens=12, **WANTS_USAGE)),
    ("tokens", CHAT, chat(stream=True, max_completion_tokens=12)),
    ("tokens", CHAT, chat(stream=True, max_tokens=12, return_token_ids=True)),
    ("text", CHAT, chat(stream=True, max_tokens=12, **WANTS_USAGE)),
]


@pytest.mark.parametrize(("mode", "path", "body"), CASES)
async def test_wherever_a_stream_is_cut_its_client_reads_the_same(
    world: World, stack: AsyncExitStack, mode: Mode, path: str, body: dict[str, Any]
) -> None:
    there = await fleet(world, stack, mode)
    whole = await there.ask(body, path)
    await world.until(lambda: (mode, path) != ("text", CHAT) or world.gateway.continuing.trusts("m"))
    assert whole.endswith(DONE)
    assert (b"token_ids" in whole) == ("return_token_ids" in body)
    for events in range(1, whole.count(b"\n\n")):
        await there.lose(events, engines=3)
        spliced = await there.ask(body, path)
        if b'"usage":{' in spliced:
            assert spliced == whole, events
        else:  # the node was lost between the last text and the usage
            assert spliced == _USAGE.sub(b"", whole), events
    await world.at_rest()


async def test_a_stream_is_moved_three_times_and_no_more(world: World, stack: AsyncExitStack) -> None:
    there = await fleet(world, stack, "text")
    body = completion(max_tokens=40, ignore_eos=True)
    await there.lose(5)
    answer = await there.ask(body, COMPLETIONS)
    assert answer.count(b'"error"') == 1
    assert answer.endswith(DONE)
    assert answer.count(b'"text":" ') == 20
    await world.at_rest()


REFUSED = [
    {"n": 2},
    {"logprobs": 1},
    {"frequency_penalty": 0.5},
    {"presence_penalty": 0.5},
    {"stop": ["end", "x"]},
    {"response_format": {"type": "json_object"}},
    {"prompt": ["a", "b"]},
]


@pytest.mark.parametrize("more", REFUSED, ids=lambda more: next(iter(more)))
async def test_what_cannot_go_on_ends_with_one_error(world: World, stack: AsyncExitStack, more: dict[str, Any]) -> None:
    there = await fleet(world, stack, "text")
    await there.lose(6)
    answer = await there.ask(completion(ignore_eos=True, **more), COMPLETIONS)
    assert answer.count(b'"error"') == 1
    assert answer.endswith(DONE)
    assert answer.count(DONE) == 1
    await world.at_rest()


async def test_off_means_off(world: World, stack: AsyncExitStack) -> None:
    there = await fleet(world, stack, "off")
    await there.lose(3)
    assert (await there.ask(completion(), COMPLETIONS)).count(b'"error"') == 1


async def test_a_node_that_will_not_continue_ends_the_stream_with_one_error(world: World) -> None:
    """It answers the request for the rest by an error of the client's."""
    piece = event({}).replace(b'"delta":{}', b'"text":"a"')
    cut = stream(piece, piece, end=False)

    async def script(request: Received, writer: asyncio.StreamWriter) -> None:
        if request.json()["prompt"] == "paa":
            writer.write(respond(b'{"error":{"message":"no"}}', 400))
        else:
            await cut(request, writer)

    await world.open(script, script, resuming=Resuming("text"))
    client = await world.client()
    answer = await client.ask(completion(prompt="p"), COMPLETIONS)
    assert answer.body.count(b'"error"') == 1
    await world.at_rest()


async def running(world: World, stack: AsyncExitStack, path: str, body: dict[str, Any]) -> tuple[Fleet, Any, bytes]:
    """A stream under way at a node, and what it would be undisturbed.

    Until it is handed out it is slow, so that there is much to come of it whatever else the machine does.
    """
    there = await fleet(world, stack, "tokens")
    whole = await there.ask(body, path)
    client = await world.client()
    there.slow_down(50.0)
    client.send(body, path, headers=("x-request-id: r",))
    await client.reader.readuntil(b" ")
    await world.until(lambda: any(lease.tokens or lease.first_at for lease in world.dispatcher._leases.values()))
    there.slow_down(1.0)
    return there, client, whole


LONG = chat(stream=True, max_tokens=200, ignore_eos=True)


def text_of(body: bytes) -> bytes:
    return b"".join(re.findall(rb'"content":"([^"]*)"', body))


async def read(client: Any) -> bytes:
    return bytes(await asyncio.wait_for(client.reader.readuntil(b"\r\n0\r\n\r\n"), 10))


async def test_a_stream_that_is_interrupted_goes_on(world: World, stack: AsyncExitStack) -> None:
    """What a preemption does."""
    _, client, whole = await running(world, stack, CHAT, LONG)
    (lease,) = world.dispatcher._leases
    world.gateway.driver.call(lambda now: world.dispatcher.interrupt(lease, "preempt", now))
    assert text_of(whole).endswith(text_of(await read(client)))
    assert sum(world.metrics.interruptions.values()) == 1
    assert {labels[2:] for labels in world.metrics.interruptions} == {("preempt", "yes")}
    await world.at_rest()


def spared(world: World) -> None:
    """What the brain orders when a node is down and silent."""
    (lease,) = world.dispatcher._leases
    world.gateway.driver.execute([Abort(lease, "node_down", interrupts=True, spares=True)])


async def test_a_stream_leaves_a_node_that_is_down(world: World, stack: AsyncExitStack) -> None:
    _, client, whole = await running(world, stack, CHAT, LONG)
    spared(world)
    assert text_of(whole).endswith(text_of(await read(client)))
    assert {labels[2:] for labels in world.metrics.interruptions} == {("node_down", "yes")}
    await world.at_rest()


async def test_what_cannot_go_on_stays_with_a_node_that_is_down(world: World, stack: AsyncExitStack) -> None:
    """It may come back."""
    _, client, _ = await running(world, stack, COMPLETIONS, completion(max_tokens=200, ignore_eos=True, n=2))
    spared(world)
    rest = await read(client)
    assert (rest.count(b'"error"'), rest.count(DONE)) == (0, 1)
    assert not world.metrics.interruptions
    await world.at_rest()


async def test_a_drained_node_is_left_at_its_limit(world: World, stack: AsyncExitStack) -> None:
    _, client, whole = await running(world, stack, CHAT, LONG)
    (lease,) = world.dispatcher._leases.values()
    node = lease.node
    world.gateway.driver.call(lambda now: world.dispatcher.drain_within(node, 0.0, now))
    rest = await read(client)
    assert text_of(whole).endswith(text_of(rest))
    assert rest.count(DONE) == 1
    assert {labels[1:] for labels in world.metrics.interruptions} == {(node, "drain", "yes")}
    await world.at_rest()


async def test_what_is_interrupted_and_cannot_go_on_ends_with_one_error(world: World, stack: AsyncExitStack) -> None:
    _, client, _ = await running(world, stack, COMPLETIONS, completion(max_tokens=200, ignore_eos=True, n=2))
    (lease,) = world.dispatcher._leases
    world.gateway.driver.call(lambda now: world.dispatcher.interrupt(lease, "preempt", now))
    rest = await read(client)
    assert (rest.count(b'"error"'), rest.count(DONE)) == (1, 1)
    assert world.dispatcher.available("m") == 4
    await world.at_rest()
