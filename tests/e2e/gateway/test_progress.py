"""Who waits and asked for it is told where it stands, inside the stream that its answer will be."""

import asyncio
import json
from typing import Any

import pytest

from pointsman.brain.model.settings import BrainSettings
from pointsman.clock import ManualClock
from pointsman.gateway.settings import Resuming

from .conftest import CHAT, SOON_S, Client, Response, World, chat
from .scripted_upstream import (
    DONE,
    ROLE,
    STREAM_HEAD,
    Received,
    Script,
    always,
    chunk,
    event,
    respond,
    standing,
    stream,
)

ASKS = ("x-pointsman-progress: 1",)
TEXT = event({"content": "Hi"})
GOOD = stream(ROLE, TEXT, event({}, "stop"), DONE)
TYPED = b'event: message_stop\ndata: {"type":"message_stop"}\n\n'
BODIES: dict[str, dict[str, Any]] = {
    CHAT: chat(stream=True),
    "/v1/completions": {"model": "m", "prompt": "hi", "stream": True},
    "/v1/responses": {"model": "m", "input": "hi", "stream": True},
    "/v1/messages": chat(stream=True, max_tokens=5),
}


class Line:
    """One request holds the only place of the fleet, and another waits behind it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.released = asyncio.Event()

    async def form(self, then: Script, body: Any = None, path: str = CHAT, **settings: Any) -> Client:
        """The client of the one that waits, and has been told so where it asked for it."""

        async def first_waits(request: Received, writer: asyncio.StreamWriter) -> None:
            if request.json().get("user") == "first":
                await self.released.wait()
                writer.write(respond(b"{}"))
            else:
                await then(request, writer)

        await self.world.open(first_waits, slots=1, **settings)
        first, second = await self.world.client(), await self.world.client()
        first.send(chat(user="first"))
        await self.world.until(lambda: bool(self.world.nodes[0].requests))
        second.send(body or chat(stream=True), path, headers=ASKS)
        await self.world.until(lambda: self.world.metrics.queued == {("m",): 1})
        return second


@pytest.fixture
async def line(world: World) -> Line:
    return Line(world)


def events(response: Response) -> list[bytes]:
    return [each for each in response.body.split(b"\n\n") if each and not each.startswith(b":")]


@pytest.mark.parametrize("path", BODIES)
async def test_the_place_comes_at_once_and_the_answer_in_the_same_stream(line: Line, path: str) -> None:
    ends = DONE if path in (CHAT, "/v1/completions") else TYPED
    second = await line.form(stream(TEXT, ends), BODIES[path], path)
    head = await asyncio.wait_for(second.reader.readuntil(b"\r\n\r\n"), SOON_S)
    assert head.startswith(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream")
    told = await asyncio.wait_for(second.reader.readuntil(b"\n\n"), SOON_S)
    assert told.endswith(b": pointsman position=1\n\n")
    line.released.set()
    rest = await asyncio.wait_for(second.reader.readuntil(b"0\r\n\r\n"), SOON_S)
    assert TEXT in rest
    assert ends in rest
    assert b"HTTP/1.1" not in rest
    assert line.world.nodes[0].requests[-1].header("x-pointsman-progress") is None
    await line.world.at_rest()


async def test_who_need_not_wait_is_told_nothing(world: World) -> None:
    await world.open(GOOD)
    client = await world.client()
    answer = await client.ask(chat(stream=True), headers=ASKS)
    assert answer.body.startswith(ROLE)
    assert b"\n: " not in answer.body


async def test_an_answer_that_is_no_stream_cannot_be_told_before(line: Line) -> None:
    second = await line.form(always(respond(b"{}")), chat())
    line.released.set()
    answer = await second.response()
    assert (answer.status, answer.body) == (200, b"{}")


async def test_a_wish_that_says_neither_yes_nor_no(world: World) -> None:
    await world.open(GOOD)
    client = await world.client()
    answer = await client.ask(chat(stream=True), headers=("x-pointsman-progress: please",))
    assert answer.status == 400
    assert "x-pointsman-progress" in answer.json()["error"]["message"]


async def test_each_is_told_as_the_line_moves(line: Line) -> None:
    line.world.clock = ManualClock()
    go = asyncio.Event()
    second = await line.form(standing(go, ROLE, TEXT, DONE))
    third = await line.world.client()
    third.send(chat(stream=True), headers=ASKS)
    await line.world.until(lambda: line.world.dispatcher.queued().get("m") == 2)
    line.released.set()
    await second.reader.readuntil(TEXT)
    line.world.pass_time(1.0)
    go.set()
    answer = await third.response()
    told = [each for each in answer.body.split(b"\n\n") if each.startswith(b": ")]
    assert told[0] == b": pointsman position=2"
    assert told[1].startswith(b": pointsman position=1 expected_wait_s=")
    assert events(answer)[-1] == b"data: [DONE]"


@pytest.mark.parametrize("path", BODIES)
async def test_a_refusal_after_waiting_is_the_last_event(line: Line, path: str) -> None:
    second = await line.form(GOOD, BODIES[path], path, brain=BrainSettings(queue_timeout_s=0.3))
    answer = await second.response()
    *named, last, done = b"\n".join(events(answer)).split(b"\n")
    error = json.loads(last.removeprefix(b"data: "))["error"]
    assert (answer.status, error["code"], done) == (200, "queue_timeout", b"data: [DONE]")
    assert named == ([] if path in (CHAT, "/v1/completions") else [b"event: error"])
    line.released.set()
    await line.world.at_rest()
    third = await second.ask(chat(stream=True), headers=ASKS)  # the connection is as good as before
    assert third.body.startswith(ROLE)


@pytest.mark.parametrize(
    ("then", "code"),
    [
        (always(respond(b'{"error":{"message":"too long","code":400}}', 400)), 400),
        (always(respond(b"no", 404, "text/plain")), "node_failed"),
        (always(respond(b"{}")), "node_failed"),
        (stream(ROLE, b'data: {"error":{"message":"x","code":503}}\n\n'), 503),
        (stream(ROLE, end=False), "node_failed"),
    ],
)
async def test_what_a_node_answers_instead_of_a_stream_is_the_last_event(
    line: Line, then: Script, code: object
) -> None:
    second = await line.form(then, brain=BrainSettings(tries=1))
    line.released.set()
    answer = await second.response()
    assert (answer.status, answer.complete) == (200, True)
    error, done = events(answer)
    assert json.loads(error.removeprefix(b"data: "))["error"]["code"] == code
    assert done == b"data: [DONE]"
    await line.world.at_rest()


async def test_who_leaves_while_being_told_is_forgotten_at_once(line: Line) -> None:
    second = await line.form(GOOD)
    await second.reader.readuntil(b"position=1")
    second.writer.transport.abort()
    await line.world.until(lambda: line.world.dispatcher.queued().get("m") == 0)
    line.released.set()
    await line.world.at_rest()
    assert len(line.world.nodes[0].requests) == 1


def text(word: str, finish: str | None = None) -> bytes:
    choice = {"index": 0, "text": word, "logprobs": None, "finish_reason": finish}
    return (
        b"data: "
        + json.dumps({"id": "c", "created": 1, "model": "m", "choices": [choice]}, separators=(",", ":")).encode()
        + b"\n\n"
    )


async def test_who_is_interrupted_is_told_between_two_parts_of_the_answer(world: World) -> None:
    """It waits until the other request is over, and goes on where that was."""
    released = asyncio.Event()

    async def script(request: Received, writer: asyncio.StreamWriter) -> None:
        prompt = request.json()["prompt"]
        if prompt == "other":
            await released.wait()
            writer.write(respond(b"{}"))
        elif prompt == "hi":
            for each in (text(" one"), text(" two")):
                writer.write(STREAM_HEAD * (each == text(" one")) + chunk(each))
            await asyncio.sleep(60)
        else:
            await stream(text(" three"), text("", "stop"), DONE)(request, writer)

    await world.open(script, script, slots=1, resuming=Resuming("text"))
    first, other = await world.client(), await world.client()
    first.send({"model": "m", "prompt": "hi", "max_tokens": 9, "stream": True}, "/v1/completions", headers=ASKS)
    await first.reader.readuntil(b" two")
    (lease,) = world.dispatcher.lives.leases
    other.send({"model": "m", "prompt": "other"}, "/v1/completions")
    await world.until(lambda: len(world.dispatcher.lives.leases) == 2)
    world.gateway.driver.call(lambda now: world.dispatcher.interrupt(lease, "drained", now))
    told = await asyncio.wait_for(first.reader.readuntil(b": pointsman position=1\n\n"), SOON_S)
    assert b"HTTP/1.1" not in told
    released.set()
    rest = await asyncio.wait_for(first.reader.readuntil(b"0\r\n\r\n"), SOON_S)
    assert b" three" in rest
    assert DONE in rest
    await world.at_rest()
