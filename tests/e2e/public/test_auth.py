"""Keys and pages: a client's key stays here, and browsers may ask before they have one."""

import json
import logging

import pytest
from tests.e2e.gateway.conftest import CHAT, World, chat
from tests.e2e.gateway.scripted_upstream import always, respond

from pointsman.brain.model.settings import BrainSettings

GOOD = always(respond(b"{}"))
SECRET = "sk-very-secret"
HEADERS = (
    f"authorization: Bearer {SECRET}",
    f"x-api-key: {SECRET}",
    f"api-key: {SECRET}",
    f"cookie: key={SECRET}",
    f"proxy-authorization: Bearer {SECRET}",
)


@pytest.mark.parametrize("node_key", ["", "inner"])
async def test_a_clients_key_goes_no_further(world: World, node_key: str, caplog: pytest.LogCaptureFixture) -> None:
    """Neither to a node nor into what is logged, measured or shown."""
    caplog.set_level(logging.DEBUG)
    await world.open(GOOD, api_keys=(SECRET,), node_key=node_key)
    client = await world.client()
    assert (await client.ask(chat(), headers=HEADERS)).status == 200
    assert (await client.ask(chat(), headers=HEADERS[1:])).status == 200
    for request in world.nodes[0].requests:
        assert SECRET not in str(request.headers)
        assert request.header("authorization") == (f"Bearer {node_key}" if node_key else None)
    refused = await client.ask(chat(), headers=(f"authorization: Bearer {SECRET}x",))
    assert refused.status == 401
    assert SECRET not in json.dumps(refused.headers) + refused.body.decode()
    assert SECRET not in caplog.text
    assert SECRET not in str(world.metrics.__dict__)


async def test_a_401_of_a_node_is_not_the_clients(world: World) -> None:
    await world.open(always(respond(b'{"error":"bad key inner"}', 401)), node_key="inner", brain=BrainSettings(tries=1))
    client = await world.client()
    response = await client.ask(chat())
    assert response.status == 502
    assert b"inner" not in response.body
    assert "www-authenticate" not in response.headers


@pytest.mark.parametrize("path", [CHAT, "/v1/models", "/health", "/v1/responses"])
async def test_browsers_ask_first_and_without_a_key(world: World, path: str) -> None:
    await world.open(GOOD, api_keys=("k",))
    client = await world.client()
    asks = (
        "origin: http://page",
        "access-control-request-method: POST",
        "access-control-request-headers: authorization, content-type, x-stainless-os",
    )
    response = await client.ask(path=path, method="OPTIONS", headers=asks)
    assert (response.status, response.body) == (204, b"")
    assert response.headers["access-control-allow-origin"] == "*"
    assert "POST" in response.headers["access-control-allow-methods"]
    assert "authorization" in response.headers["access-control-allow-headers"]
    assert not world.nodes[0].requests
    refused = await client.ask(chat(), headers=("origin: http://page",))  # a page may read why
    assert (refused.status, refused.headers["access-control-allow-origin"]) == (401, "*")
