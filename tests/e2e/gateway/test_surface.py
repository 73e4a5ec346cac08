"""What the data port answers itself, and what it refuses."""

import asyncio

import pytest

from pointsman.brain.model.node import NodeSpec
from pointsman.gateway.routes import PlainRoute
from pointsman.gateway.settings import Timeouts

from .conftest import SOON_S, World, chat
from .scripted_upstream import HANG, Received, ScriptedUpstream, always, never, respond

GOOD = always(respond(b"{}"))
ALLOWED = {"/health": "GET, HEAD, OPTIONS", "/v1/chat/completions": "POST, OPTIONS"}


async def test_models_and_health(world: World) -> None:
    await world.open(GOOD)
    client = await world.client()
    models = await client.ask(path="/v1/models", method="GET")
    assert [model["id"] for model in models.json()["data"]] == ["m"]
    assert (await client.ask(path="/v1/models/m", method="GET")).json()["object"] == "model"
    assert (await client.ask(path="/v1/models/x", method="GET")).status == 404
    assert (await client.ask(path="/health", method="GET")).status == 200
    client.send(path="/health", method="HEAD")
    assert (await client.reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 OK")
    assert (await client.ask(path="/health", method="GET")).status == 200


async def test_health_without_nodes(world: World) -> None:
    await world.start([])
    client = await world.client()
    response = await client.ask(path="/health", method="GET")
    assert response.status == 503
    assert response.headers["retry-after"] == "1"


@pytest.mark.parametrize(
    ("path", "method", "status", "code"),
    [
        ("/v1/load_lora_adapter", "POST", 404, "not_found"),
        ("/reset_prefix_cache", "POST", 404, "not_found"),
        ("/metrics", "GET", 404, "not_found"),
        ("/v1/chat/completions/", "POST", 404, "not_found"),
        ("/v1//chat/completions", "POST", 404, "not_found"),
        ("/v1/chat/../../sleep", "POST", 404, "not_found"),
        ("http://test/v1/load_lora_adapter", "POST", 404, "not_found"),
        ("/v1/chat/completions", "GET", 405, "method_not_allowed"),
        ("/v1/chat/completions", "DELETE", 405, "method_not_allowed"),
        ("/health", "POST", 405, "method_not_allowed"),
    ],
)
async def test_nothing_else_passes(world: World, path: str, method: str, status: int, code: str) -> None:
    await world.open(GOOD)
    client = await world.client()
    response = await client.ask(chat() if method == "POST" else None, path=path, method=method)
    assert (response.status, response.json()["error"]["code"]) == (status, code)
    assert response.headers.get("allow") == (ALLOWED[path] if status == 405 else None)
    assert not world.nodes[0].requests
    assert (await client.ask(path="/health", method="GET")).status == 200  # the connection lives on


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"model": "nope"}, 404, "model_not_found"),
        ({"model": 3}, 400, "invalid_request_error"),
        (b"{", 400, "invalid_request_error"),
        (b"", 400, "invalid_request_error"),
        (b"[]", 400, "invalid_request_error"),
    ],
)
async def test_bad_bodies(world: World, body: object, status: int, code: str) -> None:
    await world.open(GOOD)
    client = await world.client()
    response = await client.ask(body)
    assert (response.status, response.json()["error"]["code"]) == (status, code)
    assert not world.nodes[0].requests


async def test_a_model_left_out_means_the_only_one(world: World) -> None:
    await world.open(GOOD)
    client = await world.client()
    assert (await client.ask({"prompt": "x"}, path="/tokenize")).status == 200


async def test_keys(world: World) -> None:
    await world.open(GOOD, api_keys=("k1", "k2"), node_key="inner")
    client = await world.client()
    assert (await client.ask(chat())).status == 401
    assert (await client.ask(chat(), headers=("authorization: Bearer k3",))).status == 401
    assert (await client.ask(chat(), headers=("authorization: bearer k2",))).status == 200
    assert (await client.ask(chat(), headers=("x-api-key: k1",))).status == 200
    assert {request.header("authorization") for request in world.nodes[0].requests} == {"Bearer inner"}
    preflight = await client.ask(method="OPTIONS")
    assert preflight.status == 204
    assert preflight.headers["access-control-allow-origin"] == "*"
    assert (await client.ask(path="/health", method="GET")).status == 200
    assert (await client.ask(path="/v1/models", method="GET")).status == 401


async def test_pages_of_other_origins_may_read_answers(world: World) -> None:
    await world.open(GOOD)
    client = await world.client()
    for asked in ({"body": chat()}, {"path": "/v1/models", "method": "GET"}, {"body": {"model": "nope"}}):
        response = await client.ask(**asked, headers=("origin: http://page",))
        assert response.headers["access-control-allow-origin"] == "*"
        assert response.headers["x-request-id"]
    assert "access-control-allow-origin" not in (await client.ask(chat())).headers


async def test_kept_responses_are_not_promised(world: World) -> None:
    await world.open(GOOD)
    client = await world.client()
    body = {"model": "m", "input": "x", "previous_response_id": "r"}
    assert (await client.ask(body, path="/v1/responses")).status == 400
    assert (await client.ask(body | {"previous_response_id": None}, path="/v1/responses")).status == 200


async def test_removed_node_is_forgotten(world: World) -> None:
    await world.open(GOOD, GOOD)
    gone = world.nodes[0].url
    world.gateway.driver.call(lambda now: world.dispatcher.remove_node(gone, now))
    client = await world.client()
    for _ in range(4):
        assert (await client.ask(chat())).status == 200
    assert not world.nodes[0].requests


async def test_form_names_the_model(world: World) -> None:
    await world.open(GOOD)
    client = await world.client()
    body = (
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nname="model"\r\n\r\nx\r\n'
        b'--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nm\r\n--b--\r\n'
    )
    headers = ("content-type: multipart/form-data; boundary=b",)
    response = await client.ask(body, path="/v1/audio/transcriptions", headers=headers)
    assert response.status == 200
    assert world.nodes[0].requests[0].body == body


async def test_plain_route(world: World) -> None:
    async with ScriptedUpstream(always(respond(b"cat", content_type="text/plain"))) as node:
        await world.start(
            [NodeSpec(url=node.url, engine="plain", models=("vision",))],
            routes={"/classify": PlainRoute(pool="vision")},
        )
        await world.until(lambda: world.dispatcher.available("vision") == 1)
        client = await world.client()
        response = await client.ask(b"\x89PNG", path="/classify?top=3")
        assert response.body == b"cat"
        assert (node.requests[0].path, node.requests[0].body) == ("/classify?top=3", b"\x89PNG")


async def test_streams_of_other_makes_pass_unread(world: World) -> None:
    """Only where choices or typed events are spoken is a stream held to their end marks."""
    body = b"data: frame 1\n\ndata: fra"
    async with ScriptedUpstream(always(respond(body, content_type="text/event-stream"))) as node:
        await world.start(
            [NodeSpec(url=node.url, engine="plain", models=("vision",))], routes={"/watch": PlainRoute(pool="vision")}
        )
        await world.until(lambda: world.dispatcher.available("vision") == 1)
        client = await world.client()
        assert (await client.ask(b"", path="/watch")).body == body


async def test_one_hung_node_delays_no_model_list(world: World) -> None:
    await world.open(GOOD, never, timeouts=Timeouts(probe_s=30.0, lame_duck_s=0.0))
    client = await world.client()
    world.nodes[1].pages = {"/health": HANG, "/v1/models": HANG}
    async with asyncio.timeout(SOON_S):
        assert (await client.ask(path="/v1/models", method="GET")).status == 200


async def test_rank_is_told_to_the_engine(world: World) -> None:
    async with ScriptedUpstream(GOOD) as node:
        await world.start([NodeSpec(url=node.url, rank=rank) for rank in (0, 1)])
        await world.until(lambda: world.dispatcher.available() == 2)
        client = await world.client()
        for _ in range(2):
            assert (await client.ask(chat())).status == 200
        ranks = [request.header("x-data-parallel-rank") for request in node.requests]
        assert sorted(rank or "" for rank in ranks) == ["0", "1"]


async def silent(_: Received, __: asyncio.StreamWriter) -> None:
    return
