"""Answers that are legal and rare: each reaches the client as what it is."""

import asyncio

import pytest

from pointsman.brain.model.outcome import Verdict
from pointsman.brain.model.settings import BrainSettings

from .conftest import World, chat
from .scripted_upstream import DONE, ROLE, USAGE, Received, Script, always, chunk, event, respond

TEXT = event({"content": "Hi"})
STOP = event({}, "stop")
ERROR = b'data: {"error":{"message":"too long"}}\n\n'


def closing(raw: bytes) -> Script:
    """Say `raw`, then close in good order."""

    async def script(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(raw)
        await writer.drain()
        writer.write_eof()

    return script


def verdicts(world: World) -> list[Verdict]:
    return [Verdict(verdict) for _, _, verdict in world.metrics.requests]


@pytest.mark.parametrize("status", [400, 422])
async def test_an_error_in_the_form_of_a_stream_keeps_its_status(world: World, status: int) -> None:
    await world.open(always(respond(ERROR, status, content_type="text/event-stream")))
    client = await world.client()
    response = await client.ask(chat(stream=True))
    assert (response.status, response.body) == (status, ERROR)
    assert verdicts(world) == [Verdict.OK]


@pytest.mark.parametrize("kind", ["text/event-stream; charset=utf-8", "Text/Event-Stream", "TEXT/EVENT-STREAM;x=y"])
async def test_the_name_of_a_stream_in_any_case(world: World, kind: str) -> None:
    body = ROLE + TEXT + STOP + USAGE + DONE
    await world.open(always(respond(body, content_type=kind)))
    client = await world.client()
    assert (await client.ask(chat(stream=True))).body == ROLE + TEXT + STOP + DONE
    assert sum(lane.completion_tokens for lane in world.metrics.lanes.values()) == 3


async def test_a_stream_that_ends_with_its_connection(world: World) -> None:
    """As an HTTP/1.0 server sends it: the close is the end, and a cut is told by what was said before it."""
    head = b"HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
    await world.open(closing(head + ROLE + TEXT + STOP + DONE), brain=BrainSettings(tries=1))
    client = await world.client()
    assert (await client.ask(chat(stream=True))).body == ROLE + TEXT + STOP + DONE
    world.nodes[0].script = closing(head + ROLE + TEXT)
    response = await client.ask(chat(stream=True))
    assert response.complete
    assert b'"error"' in response.body


async def test_a_stream_that_was_not_asked_for(world: World) -> None:
    await world.open(always(respond(ROLE + TEXT + STOP + DONE, content_type="text/event-stream")))
    client = await world.client()
    assert (await client.ask(chat())).body == ROLE + TEXT + STOP + DONE


async def test_a_whole_answer_where_a_stream_was_asked_for(world: World) -> None:
    body = b'{"choices":[{"message":{"content":"Hi"}}],"usage":{"prompt_tokens":1,"completion_tokens":2}}'
    await world.open(always(respond(body)))
    client = await world.client()
    response = await client.ask(chat(stream=True))
    assert (response.body, response.headers["content-type"]) == (body, "application/json")
    assert verdicts(world) == [Verdict.OK]


@pytest.mark.parametrize("status", [204, 304])
async def test_answers_without_a_body(world: World, status: int) -> None:
    await world.open(always(f"HTTP/1.1 {status} X\r\nx-engine: e\r\n\r\n".encode()))
    client = await world.client()
    client.send(chat())
    head = await client.reader.readuntil(b"\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"content-length" not in head
    assert b"transfer-encoding" not in head
    assert (await client.ask(path="/health", method="GET")).status == 200  # nothing was left behind the head


async def test_interim_answers_are_passed_over(world: World) -> None:
    early = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"
    await world.open(always(early + respond(b"{}")))
    client = await world.client()
    response = await client.ask(chat())
    assert (response.status, response.body) == (200, b"{}")
    assert "link" not in response.headers


async def test_trailers_end_here(world: World) -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n"
    await world.open(always(head + chunk(ROLE + TEXT + STOP + DONE) + b"0\r\nx-sum: 1\r\n\r\n"))
    client = await world.client()
    response = await client.ask(chat(stream=True))
    assert (response.body, response.complete) == (ROLE + TEXT + STOP + DONE, True)
    assert "trailer" not in response.headers
    assert (await client.ask(chat(stream=True))).complete


async def test_a_body_in_chunks_reaches_the_node_whole(world: World) -> None:
    await world.open(always(respond(b"{}")))
    client = await world.client()
    client.writer.write(
        b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\ntrailer: x-t\r\n\r\n"
        + chunk(b'{"model":')
        + b'4;ext="a"\r\n"m"}\r\n'
        + b"0\r\nx-t: 1\r\n\r\n"
    )
    assert (await client.response()).status == 200
    request = world.nodes[0].requests[0]
    assert (request.body, request.header("content-length")) == (b'{"model":"m"}', "13")
    assert request.header("transfer-encoding") is None
    assert request.header("x-t") is None
