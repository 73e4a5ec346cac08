"""Engines that promise to obey and do not: each is believed from then on, and no request notices."""

import asyncio
import json
import logging
from typing import Any

import pytest

from pointsman.brain.model.node import NodeSpec

from .conftest import World
from .scripted_upstream import Cut, Received, Script, ScriptedUpstream, always, respond

COMPLETIONS = "/v1/completions"
ANSWER = respond(b'{"choices": [{"index": 0, "text": "hi", "finish_reason": "stop"}]}')
KV: dict[str, Any] = {"obeys": True, "blocks": 100, "free": 100, "cached": 0, "named": 0, "pinned": 0, "tiers": []}


def kv(**more: Any) -> bytes:
    return respond(json.dumps(KV | more).encode())


async def hang(_: Received, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(30)


async def cut(_: Received, writer: asyncio.StreamWriter) -> None:
    writer.write(respond(b'{"done": []}')[:-5])
    await writer.drain()
    raise Cut


async def obey(request: Received, writer: asyncio.StreamWriter) -> None:
    writer.write(respond(json.dumps({"done": [{} for _ in request.json()["orders"]]}).encode()))


def told(text: bytes) -> Script:
    return always(respond(text))


DISOBEDIENT: dict[str, tuple[Script, str]] = {
    "unknown path": (always(respond(b"no", 404)), "status 404"),
    "error": (always(respond(b"oops", 500)), "status 500"),
    "conflict": (always(respond(b"{}", 409)), "status 409"),
    "moved": (always(respond(b"", 302, extra="location: http://127.0.0.1:1/\r\n")), "status 302"),
    "silence": (hang, "timeout"),
    "cut": (cut, "eof"),
    "no json": (told(b"\xff\xfe"), "malformed"),
    "nothing": (told(b""), "truncated"),
    "null": (told(b"null"), "Expected `object`"),
    "too little": (told(b'{"done": []}'), "no answer"),
    "negative": (told(b'{"done": [{"blocks": -5}]}'), ">= 0"),
    "astronomic": (told(b'{"done": [{"blocks": 1%b}]}' % (b"0" * 400)), "<= 1000000000"),
    "deep": (told(b'{"done": [], "x": ' + b"[" * 100_000), "nested too deeply"),
    "endless": (told(b'{"done": [{}], "x": "%b"}' % (b"x" * (9 << 20))), "too_large"),
    "no http": (always(b"SSH-2.0-OpenSSH_9.6\r\n\r\n"), "garbage"),
}


async def start(world: World, orders: Script, page: bytes = b"") -> ScriptedUpstream:
    """A gateway before one node that says of its cache what `page` says, and does with orders what `orders` does."""

    async def script(request: Received, writer: asyncio.StreamWriter) -> None:
        if request.path == "/kv/orders":
            await orders(request, writer)
        else:
            writer.write(ANSWER)

    node = await world._stack.enter_async_context(ScriptedUpstream(script))
    node.pages["/kv"] = page or kv()
    world.policy = "greedy"
    await world.start([NodeSpec(url=node.url, id="n", residency="commanded", kv_tokens=1600)])
    await world.until(lambda: world.dispatcher.available() == 1)
    return node


async def served(world: World, count: int = 5) -> None:
    client = await world.client()
    for number in range(count):
        body = {"model": "m", "prompt": f"{number} " * 900, "max_tokens": 4}
        assert (await client.ask(body, COMPLETIONS)).status == 200
    await world.at_rest()


@pytest.mark.parametrize("how", DISOBEDIENT)
async def test_who_does_not_obey_is_believed(world: World, how: str, caplog: pytest.LogCaptureFixture) -> None:
    script, why = DISOBEDIENT[how]
    await start(world, script)
    await served(world)
    await world.until(lambda: ("n", "believed") in world.metrics.residency_changes)
    await served(world)
    commanding = world.dispatcher.placement.commanding
    assert not commanding.on
    assert why in commanding._told[0]
    await world.until(lambda: not commanding._open)  # what was ordered while it was silent
    assert not world.gateway._commander._waiting
    assert world.dispatcher.fleet.cells.kv_reserved[0] == 0
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


@pytest.mark.parametrize(
    "page",
    [
        respond(b"no", 404),
        respond(b"", 500),
        respond(b"[]"),
        respond(b"[" * 100_000),
        kv(free=-1),
        kv(free=10**400),
        kv(tiers=[{"blocks": 9, "free": 10**400, "seconds_per_block": 1}]),
        kv(tiers=[{"blocks": 9, "free": 9, "seconds_per_block": -1}]),
        kv(obeys="yes"),
        kv(obeys=False),
    ],
)
async def test_who_says_nothing_sensible_of_its_cache_is_believed(
    world: World, page: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    node = await start(world, obey, page)
    await served(world)
    await world.until(lambda: ("n", "believed") in world.metrics.residency_changes)
    assert not [request for request in node.requests if request.path == "/kv/orders"]
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


async def test_who_invents_what_it_has_lost_is_obeyed_still(world: World) -> None:
    async def lose(request: Received, writer: asyncio.StreamWriter) -> None:
        orders = request.json()["orders"]
        links = [link for order in orders for link in order.get("links", ())]
        lost = [*links, *links, -1, 10**30, 0, *range(1000)]
        writer.write(respond(json.dumps({"done": [{} for _ in orders], "lost": lost}).encode()))

    await start(world, lose)
    await served(world, 12)
    assert world.dispatcher.placement.commanding.obeys(0)
    assert world.metrics.kv_orders["n", "evict", "carried"] >= 2
