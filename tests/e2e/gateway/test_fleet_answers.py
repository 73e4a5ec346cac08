"""What the gateway says of its fleet: the list of models, merged from what nodes list."""

import asyncio
import json

import pytest

from pointsman.brain.model.node import NodeSpec
from pointsman.gateway.settings import Timeouts

from .conftest import SOON_S, World, chat
from .scripted_upstream import HANG, ScriptedUpstream, always, respond

GOOD = always(respond(b"{}"))
PATIENT = Timeouts(probe_s=30.0, lame_duck_s=0.0)
"""A page that hangs is waited for longer than any answer here."""


def listing(*models: dict[str, object]) -> bytes:
    return respond(json.dumps({"object": "list", "data": models}).encode())


async def test_lists_are_merged_with_aliases_and_adapters(world: World) -> None:
    """Engines list further names of a model, and adapters with the model they belong to: both can be asked for."""
    async with ScriptedUpstream(GOOD) as first, ScriptedUpstream(GOOD) as second:
        first.pages["/v1/models"] = listing({"id": "base"}, {"id": "alias", "root": "base"})
        second.pages["/v1/models"] = listing(
            {"id": "base", "max_model_len": 8}, {"id": "adapter", "parent": "base", "root": "/lora"}
        )
        await world.start([NodeSpec(url=first.url), NodeSpec(url=second.url)])
        await world.until(lambda: world.dispatcher.available() == 2)
        client = await world.client()
        listed = (await client.ask(path="/v1/models", method="GET")).json()
        assert [model["id"] for model in listed["data"]] == ["adapter", "alias", "base"]
        for _ in range(4):
            assert (await client.ask(chat() | {"model": "adapter"})).status == 200
            assert (await client.ask(chat() | {"model": "alias"})).status == 200
        assert {request.json()["model"] for request in first.requests} == {"alias"}
        assert {request.json()["model"] for request in second.requests} == {"adapter"}


@pytest.mark.parametrize(
    "page",
    [
        HANG,
        b"garbage\r\n\r\n",
        respond(b"{", 200),
        respond(b'{"data":{}}'),
        respond(b"no", 500),
        listing({"name": "x"}),
    ],
)
async def test_one_bad_list_breaks_nobody_elses(world: World, page: bytes) -> None:
    async with ScriptedUpstream(GOOD) as good, ScriptedUpstream(GOOD) as bad:
        bad.pages["/v1/models"] = page
        await world.start([NodeSpec(url=bad.url), NodeSpec(url=good.url)], timeouts=PATIENT)
        await world.until(lambda: world.dispatcher.available() == 1)
        client = await world.client()
        async with asyncio.timeout(SOON_S):
            answer = await client.ask(path="/v1/models", method="GET")
        assert [model["id"] for model in answer.json()["data"]] == ["m"]


async def test_a_model_is_found_as_soon_as_a_node_lists_it(world: World) -> None:
    """An adapter that is loaded later is served after the next probe, and gone after it was unloaded."""
    async with ScriptedUpstream(GOOD) as node:
        await world.start([NodeSpec(url=node.url)])
        await world.until(lambda: world.dispatcher.available() == 1)
        client = await world.client()
        for ahead_s, models, status in ((11.0, ("m", "late"), 200), (30.0, ("m",), 404)):
            node.models = models
            world.gateway.driver.call(lambda now: world.dispatcher.tick(now + ahead_s))  # noqa: B023
            await world.until(lambda: tuple(world.dispatcher.models()) == tuple(sorted(models)))  # noqa: B023
            assert (await client.ask(chat() | {"model": "late"})).status == status
