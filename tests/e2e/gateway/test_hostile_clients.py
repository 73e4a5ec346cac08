"""Clients that mean harm, or behave as if: nobody else notices them, and their connections stay in order."""

import asyncio
import contextlib
import json
import time

import pytest

from pointsman.gateway.settings import Timeouts

from .conftest import CHAT, Client, World, chat
from .scripted_upstream import Received, always, never, respond

GOOD = always(respond(b"{}"))
DEEP = b"[" * 50_000 + b"]" * 50_000


async def slow(_: Received, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(0.05)
    writer.write(respond(b"{}"))


async def healthy(client: Client) -> bool:
    return (await client.ask(path="/health", method="GET")).status == 200


@pytest.mark.parametrize("target", [b"/health", b"/nowhere"])
async def test_thousands_of_pipelined_requests_are_all_answered(world: World, target: bytes) -> None:
    await world.open(slow)
    client = await world.client()
    client.send(chat())
    client.writer.write(b"GET %b HTTP/1.1\r\nhost: x\r\n\r\n" % target * 3000)
    statuses = [(await client.response()).status for _ in range(3001)]
    assert statuses == [200] + [200 if target == b"/health" else 404] * 3000
    await world.at_rest()


async def test_who_asks_and_never_reads_is_not_listened_to(world: World) -> None:
    await world.open(GOOD)
    client = await world.client()
    client.writer.transport.pause_reading()  # type: ignore[attr-defined]
    ask = b"OPTIONS /v1/chat/completions HTTP/1.1\r\nhost: x\r\n\r\n" * 2000
    sent = 0
    with contextlib.suppress(TimeoutError):
        while sent < 100_000_000:
            client.writer.write(ask)
            sent += len(ask)
            await asyncio.wait_for(client.writer.drain(), 0.5)
    assert sent < 30_000_000  # what the sockets' buffers hold
    assert await healthy(await world.client())
    client.writer.transport.resume_reading()  # type: ignore[attr-defined]
    assert [(await client.response()).status for _ in range(2000)] == [204] * 2000


async def test_who_never_takes_its_answers_is_dropped(world: World) -> None:
    await world.open(GOOD, timeouts=Timeouts(client_stall_s=0.3, lame_duck_s=0))
    client = await world.client()
    client.writer.transport.pause_reading()  # type: ignore[attr-defined]
    client.writer.write(b"OPTIONS /v1/chat/completions HTTP/1.1\r\nhost: x\r\n\r\n" * 100_000)
    await world.until(lambda: len(world.gateway._server.connections) == 1)
    await world.until(lambda: len(world.gateway._server.connections) == 0)


@pytest.mark.parametrize("path", ["/nowhere", CHAT, "/v1/models", "/v1/models/none"])
async def test_a_refused_head_has_no_body(world: World, path: str) -> None:
    await world.open(GOOD, api_keys=("k",))
    client = await world.client()
    client.send(path=path, method="HEAD")
    head = await client.reader.readuntil(b"\r\n\r\n")
    assert b" 404 " in head or b" 405 " in head or b" 401 " in head
    assert b"x-request-id: " in head
    assert await healthy(client)


async def test_a_stranger_sends_no_body_in_chunks(world: World) -> None:
    await world.open(GOOD, api_keys=("k",))
    client = await world.client()
    client.writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n")
    response = await client.response()
    assert (response.status, response.headers["connection"]) == (401, "close")


@pytest.mark.parametrize(
    "body",
    [
        b'{"model":"m","messages":' + DEEP + b"}",
        b'{"model":"m","messages":[],"else":' + DEEP + b"}",
        rb'{"model":"m","messages":["\ud83d"],"else":' + DEEP + b"}",
    ],
)
async def test_deep_nesting_is_a_bad_request(world: World, body: bytes) -> None:
    await world.open(GOOD)
    client = await world.client()
    response = await client.ask(body)
    assert (response.status, response.json()["error"]["type"]) == (400, "invalid_request_error")
    assert await healthy(client)
    await world.at_rest()


@pytest.mark.parametrize("version", [b"1.0", b"1.1"])
async def test_a_refused_request_that_offers_an_upgrade(world: World, version: bytes) -> None:
    await world.open(GOOD, api_keys=("k",))
    client = await world.client()
    client.writer.write(
        b"POST /v1/chat/completions HTTP/%b\r\nhost: x\r\nupgrade: h2c\r\nconnection: upgrade\r\n"
        b"expect: 100-continue\r\ncontent-length: 100000\r\n\r\n" % version
    )
    assert (await client.response()).status == 401


async def test_an_upgrade_offered_by_an_old_client(world: World) -> None:
    await world.open(GOOD)
    client = await world.client()
    client.writer.write(
        b"POST /v1/chat/completions HTTP/1.0\r\nupgrade: h2c\r\nconnection: upgrade\r\ncontent-length: 13\r\n\r\n"
        b'{"model":"m"}'
    )
    response = await client.response()
    assert (response.status, response.headers["connection"]) == (200, "close")


async def test_an_old_client_is_not_told_to_continue(world: World) -> None:
    await world.open(GOOD)
    client = await world.client()
    client.writer.write(
        b"POST /v1/chat/completions HTTP/1.0\r\nexpect: 100-continue\r\ncontent-length: 13\r\n\r\n" + b'{"model":"m"}'
    )
    assert (await client.response()).status == 200


async def test_a_long_model_name_is_not_repeated_in_full(world: World) -> None:
    await world.open(GOOD)
    client = await world.client()
    response = await client.ask({"model": "x" * 1_000_000})
    assert response.status == 404
    assert len(response.body) < 1000
    assert (await client.ask(path="/v1/models/" + "x" * 10_000, method="GET")).status == 404


async def test_a_model_whose_name_is_escaped_in_the_path(world: World) -> None:
    await world.open(GOOD, GOOD)
    client = await world.client()
    assert (await client.ask(path="/v1/models/%6d", method="GET")).json()["id"] == "m"


async def test_many_leaving_the_queue_at_once_leave_nothing_over(world: World) -> None:
    await world.open(never, slots=1)
    clients = [await world.client() for _ in range(50)]
    for client in clients:
        client.send(chat())
    await world.until(lambda: world.dispatcher.queued().get("m", 0) == 49)
    for client in clients:
        client.writer.transport.abort()
    await world.at_rest()
    assert world.gateway.driver._leases == {}


async def test_a_form_of_many_tiny_parts_is_read_at_once(world: World) -> None:
    await world.open(GOOD)
    client = await world.client()
    form = b"--a" * 1_000_000
    client.send(form, path="/v1/audio/transcriptions", headers=("content-type: multipart/form-data; boundary=a",))
    assert (await client.response()).status in (200, 400)  # no model named: the only one there is


async def test_edits_of_long_lists_are_quick(world: World) -> None:
    await world.open(GOOD)
    client = await world.client()
    body = json.dumps(chat(priority=1, prompt=[[]] * 1_000_000)).encode()
    before = time.process_time()  # of the client's and the node's work too; other work of the machine does not count
    await client.ask(body)
    assert time.process_time() - before < 1.0
    plain = json.dumps(chat(prompt=[[]] * 1_000_000)).encode()
    assert world.nodes[0].requests[0].body.replace(b" ", b"") == plain.replace(b" ", b"")
