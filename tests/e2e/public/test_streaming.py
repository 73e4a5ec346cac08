"""Streams: whatever the cuts, the client sees the node's bytes, the usage is counted, and an end is an end."""

import asyncio
import gzip
import json
import zlib

import pytest
from tests.e2e.gateway.conftest import World, chat
from tests.e2e.gateway.scripted_upstream import (
    DONE,
    ROLE,
    STREAM_HEAD,
    USAGE,
    Received,
    always,
    chunk,
    event,
    respond,
    stream,
)

from pointsman.brain.model.outcome import Verdict
from pointsman.brain.model.settings import BrainSettings

TEXT = event({"content": "Hi"})
STOP = event({}, "stop")
WHOLE = ROLE + TEXT + STOP + USAGE + DONE
WITHOUT_USAGE = ROLE + TEXT + STOP + DONE
WITH_USAGE = {"stream_options": {"include_usage": True}}


def completion_tokens(world: World) -> int:
    return sum(lane.completion_tokens for lane in world.metrics.lanes.values())


def verdicts(world: World) -> dict[str, int]:
    return {verdict: count for (_, _, verdict), count in world.metrics.requests.items()}


@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
async def test_cut_at_every_byte(world: World, asked: bool, end: str) -> None:
    """Usage that spans two chunks is counted, and taking it out damages no neighbour."""
    whole = WHOLE.replace(b"\n", end.encode())
    at = 0

    async def in_two(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunk(whole[:at]))
        await asyncio.sleep(0)
        writer.write(chunk(whole[at:]) + b"0\r\n\r\n")

    await world.open(in_two)
    client = await world.client()
    expected = whole if asked else WITHOUT_USAGE.replace(b"\n", end.encode())
    for at in range(1, len(whole)):  # noqa: B007 - `in_two` reads it
        response = await client.ask(chat(stream=True, **(WITH_USAGE if asked else {})))
        assert response.body == expected
        assert response.complete
    assert completion_tokens(world) == 3 * (len(whole) - 1)
    await world.at_rest()


async def test_byte_by_byte(world: World) -> None:
    """A chunk of one byte tears every character of more: none may be read or written as one."""
    words = [event({"content": text}) for text in ("🚂", "안녕하세요", "é", "👩‍👩‍👧", "\u2028", "\ud83d")]
    raw = [json.dumps({"choices": [{"index": 0, "delta": {"content": "열차 🚉"}}]}, ensure_ascii=False).encode()]
    events = (ROLE, *words, *(b"data: " + each + b"\n\n" for each in raw), STOP, DONE)
    await world.open(stream(*[bytes([byte]) for byte in b"".join(events)]))
    client = await world.client()
    response = await client.ask(chat(stream=True, stop=["🚉", "。"], **WITH_USAGE))
    assert response.body == b"".join(events)
    assert world.nodes[0].requests[0].json()["stop"] == ["🚉", "。"]
    assert verdicts(world) == {Verdict.OK: 1}


async def test_a_line_of_two_mib_in_small_pieces(world: World) -> None:
    big = event({"tool_calls": [{"index": 0, "function": {"arguments": "x" * (2 << 20)}}]})
    pieces = [big[start : start + 5000] for start in range(0, len(big), 5000)]
    await world.open(stream(ROLE, *pieces, STOP, DONE))
    client = await world.client()
    assert (await client.ask(chat(stream=True))).body == ROLE + big + STOP + DONE


@pytest.mark.parametrize("last", [b"", b"data: {", event({"content": "half"})[:-1]])
async def test_an_early_end_is_never_made_a_stop(world: World, last: bytes) -> None:
    """Neither an orderly end of the body nor a torn event counts as the model's own end."""
    await world.open(stream(ROLE, TEXT, *([last] if last else [])))
    client = await world.client()
    response = await client.ask(chat(stream=True))
    assert response.complete
    assert b'"stop"' not in response.body
    told = response.body.removeprefix(ROLE + TEXT)
    assert told.startswith(b'data: {"error":')
    assert told.endswith(b"\n\n" + DONE)
    assert verdicts(world) == {Verdict.FAIL: 1}


@pytest.mark.parametrize("end", [True, False])
async def test_an_error_that_was_told_is_told_once(world: World, end: bool) -> None:
    """The node says what is wrong, before or after content, and then breaks off: that is its last word, and ours."""
    error = b'data: {"error":{"message":"out of memory","code":500}}\n\n'
    await world.open(stream(ROLE, TEXT, error, end=end), brain=BrainSettings(tries=1))
    client = await world.client()
    response = await client.ask(chat(stream=True))
    assert (response.complete, response.body) == (True, ROLE + TEXT + error)
    world.nodes[0].script = stream(ROLE, error, end=end)
    response = await client.ask(chat(stream=True))
    assert (response.status, response.json()["error"]["message"]) == (500, "out of memory")
    assert verdicts(world) == {Verdict.FAIL: 2}


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/responses"])
async def test_a_stream_of_typed_events_ends_in_its_own_way(world: World, path: str) -> None:
    """Clients of typed events pass over an event without a name: our own error has one."""
    delta = b'event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"text":"Hi"}}\n\n'
    await world.open(stream(delta, end=False))
    client = await world.client()
    response = await client.ask({"model": "m", "messages": [], "input": "x", "stream": True}, path=path)
    assert response.complete
    told = response.body.removeprefix(delta)
    assert told.startswith(b'event: error\ndata: {"type":"error","error":{"message":')
    assert told.endswith(b"\n\n" + DONE)


@pytest.mark.parametrize(
    "error",
    [
        b'data: {"error":{"message":"out of memory","code":500}}\n\n',
        b'data: {"error":"out of memory"}\n\n',
        b'event: error\ndata: {"error":{"message":"out of memory"}}\n\n',
        b'data: {"object":"error","message":"out of memory","code":500}\n\n',
    ],
)
async def test_a_200_does_not_hide_an_error(world: World, error: bytes) -> None:
    """An error inside a stream is a failure: a status before content, relayed and counted after it."""
    await world.open(stream(ROLE, error, DONE), brain=BrainSettings(tries=1))
    client = await world.client()
    response = await client.ask(chat(stream=True))
    assert response.status == 500
    assert b"out of memory" in response.body
    world.nodes[0].script = stream(ROLE, TEXT, error, DONE)
    response = await client.ask(chat(stream=True))
    assert (response.status, response.body) == (200, ROLE + TEXT + error + DONE)
    assert Verdict.OK not in verdicts(world)


@pytest.mark.parametrize(
    "body",
    [
        b'{"error":{"message":"out of memory","code":500}}',
        b' { "error": "out of memory" }',
        b'{"object":"error","message":"out of memory","code":500}',
    ],
)
async def test_a_plain_200_does_not_hide_an_error(world: World, body: bytes) -> None:
    await world.open(always(respond(body)))
    client = await world.client()
    response = await client.ask(chat())
    assert (response.status, response.body) == (200, body)
    assert verdicts(world) == {Verdict.FAIL: 1}


def zipped(*events: bytes, wbits: int, flush: bool = True) -> list[bytes]:
    """Events as a compressing proxy sends them: one encoder for the whole stream."""
    encoder = zlib.compressobj(wbits=wbits)
    out = [encoder.compress(each) + (encoder.flush(zlib.Z_SYNC_FLUSH) if flush else b"") for each in events]
    return [each for each in (*out, encoder.flush()) if each]


@pytest.mark.parametrize(("coding", "wbits"), [("gzip", 31), ("deflate", 15)])
@pytest.mark.parametrize("flush", [True, False])
async def test_a_stream_compressed_unasked(world: World, coding: str, wbits: int, flush: bool) -> None:
    """One decoder for the whole stream, and no header that says what the bytes no longer are."""
    pieces = zipped(ROLE, TEXT, STOP, USAGE, DONE, wbits=wbits, flush=flush)
    head = STREAM_HEAD.replace(b"\r\n\r\n", f"\r\ncontent-encoding: {coding}\r\n\r\n".encode())

    async def script(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        for piece in pieces:
            writer.write(chunk(piece))
            await asyncio.sleep(0.001)
        writer.write(b"0\r\n\r\n")

    await world.open(script)
    client = await world.client()
    for _ in range(2):
        response = await client.ask(chat(stream=True))
        assert response.body == WITHOUT_USAGE
        assert "content-encoding" not in response.headers
        assert response.headers["x-accel-buffering"] == "no"
    assert completion_tokens(world) == 6
    assert world.nodes[0].requests[0].header("accept-encoding") == "identity"


async def test_an_answer_compressed_unasked(world: World) -> None:
    body = b'{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":9}}'
    await world.open(always(respond(gzip.compress(body), extra="content-encoding: gzip\r\nvary: accept-encoding\r\n")))
    client = await world.client()
    for _ in range(2):
        response = await client.ask(chat())
        assert (response.body, response.complete) == (body, True)
        assert "content-encoding" not in response.headers
    assert completion_tokens(world) == 18
    assert world.nodes[0].connections == 1


async def test_a_coding_we_cannot_undo_passes_with_its_name(world: World) -> None:
    await world.open(always(respond(b"\x0b\x02", content_type="text/event-stream", extra="content-encoding: br\r\n")))
    client = await world.client()
    response = await client.ask(chat(stream=True))
    assert (response.body, response.headers["content-encoding"]) == (b"\x0b\x02", "br")


async def test_a_compressed_answer_that_is_cut_is_no_success(world: World) -> None:
    whole = gzip.compress(b"x" * 50)
    await world.open(always(respond(whole[:-4], extra="content-encoding: gzip\r\n")))
    client = await world.client()
    response = await client.ask(chat())
    assert not response.complete or response.status == 502
    assert verdicts(world).get(Verdict.OK) is None


async def test_connections_that_close_when_idle(world: World) -> None:
    """An engine closes a kept connection at the very moment a request is sent on it: nobody notices."""
    served: set[asyncio.StreamWriter] = set()

    async def short_lived(_: Received, writer: asyncio.StreamWriter) -> None:
        served.add(writer)
        writer.write(respond(b"{}"))
        asyncio.get_running_loop().call_later(0.01, writer.transport.abort)

    await world.open(short_lived, brain=BrainSettings(tries=1))
    client = await world.client()
    for number in range(60):
        assert (await client.ask(chat())).status == 200
        await asyncio.sleep(0.008 + number % 8 * 0.0005)
    assert len(served) > 1
    assert verdicts(world) == {Verdict.OK: 60}


async def test_choices_logprobs_and_tools_pass_as_they_come(world: World) -> None:
    events = (
        ROLE,
        event({"role": "assistant", "content": None}, index=1),
        event({"content": "a"}),
        b'data: {"id":"c","choices":[{"index":1,"delta":{"content":"b"},"logprobs":{"content":[{"token":"b"}]}}]}\n\n',
        b": a comment\n\n",
        event({"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": None}}]}, index=1),
        event({}, "stop"),
        event({"content": "b"}, index=1),
        event({}, "tool_calls", index=1),
        USAGE,
        DONE,
    )
    await world.open(stream(*events))
    client = await world.client()
    response = await client.ask(chat(stream=True, n=2, logprobs=True))
    assert response.body == b"".join(each for each in events if each is not USAGE)
    assert verdicts(world) == {Verdict.OK: 1}


async def test_no_empty_chunk_is_sent_where_an_event_is_taken_out(world: World) -> None:
    """An empty chunk would end the message: the usage chunk that is taken out leaves none behind."""
    await world.open(stream(ROLE, TEXT, STOP, USAGE, USAGE, DONE, gap_s=0.005))
    client = await world.client()
    client.send(chat(stream=True))
    raw = await client.reader.readuntil(b"\r\n0\r\n\r\n")
    assert raw.count(b"\r\n0\r\n") == 1
    assert raw.endswith(DONE + b"\r\n0\r\n\r\n")
