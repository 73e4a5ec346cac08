"""The demonstration's client against a scripted server: timing, usage, and every way an answer can fail."""

import asyncio
import contextlib

import aiohttp
import msgspec
import pytest
from aiohttp import web

from pointsman.clock import WallClock
from pointsman.demo.client import Answer, ChatClient
from pointsman.demo.stopwatch import EngineTime

ROLE = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}
WORD = {"choices": [{"index": 0, "delta": {"content": " abc"}}]}
END = {"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]}
USAGE = {
    "choices": [],
    "usage": {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}},
}
GOOD = [ROLE, WORD, WORD, END, USAGE, "[DONE]"]


def stream(events):
    return b"".join(
        b"data: " + (event.encode() if isinstance(event, str) else msgspec.json.encode(event)) + b"\n\n"
        for event in events
    )


async def asked(payload, status=200, pieces=1, lengths_told=True):
    """Ask a server that answers with `payload`, in that many pieces; returns the answer and the request's body."""
    seen = {}

    async def answer(request):
        seen["body"] = msgspec.json.decode(await request.read())
        seen["id"] = request.headers["X-Request-Id"]
        response = web.StreamResponse(status=status)
        await response.prepare(request)
        size = -(-len(payload) // pieces)
        for start in range(0, len(payload), size):
            await response.write(payload[start : start + size])
        return response

    application = web.Application()
    application.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = site._server.sockets[0].getsockname()[1]
    time = EngineTime(WallClock(), 10.0)
    result = Answer(sent_s=time.now())
    try:
        async with aiohttp.ClientSession() as session:
            client = ChatClient(session, f"http://127.0.0.1:{port}", "m", time, lengths_told=lengths_told)
            await client.ask(result, "r-1", [{"role": "user", "content": "hi"}], 2)
    finally:
        await runner.cleanup()
    return result, seen


@pytest.mark.parametrize("pieces", [1, 7, 200])
async def test_a_good_stream_in_any_pieces(pieces):
    answer, seen = await asked(stream(GOOD), pieces=pieces)
    assert answer.complete
    assert answer.problem == ""
    assert answer.text == " abc abc"
    assert (answer.prompt_tokens, answer.cached_tokens, answer.output_tokens) == (9, 4, 2)
    assert answer.sent_s <= answer.first_s <= answer.done_s
    assert seen["id"] == "r-1"
    assert seen["body"]["emulator"] == {"output_tokens": 2}
    assert seen["body"]["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize("told", [True, False])
async def test_the_gateway_hears_of_the_length_only_where_clients_know_it(told):
    _, seen = await asked(stream(GOOD), lengths_told=told)
    assert seen["body"].get("max_tokens") == (2 if told else None)
    assert seen["body"]["emulator"] == {"output_tokens": 2}


async def test_the_role_chunk_is_no_first_token():
    answer, _ = await asked(stream([ROLE]))
    assert answer.first_s is None


@pytest.mark.parametrize(
    ("events", "problem"),
    [
        ([ROLE, WORD], "the stream was cut"),
        ([ROLE, WORD, "[DONE]"], ""),
        ([{"error": {"message": "boom"}}, "[DONE]"], "boom"),
        (["{oops"], "DecodeError"),
    ],
)
async def test_an_incomplete_stream_is_no_success(events, problem):
    answer, _ = await asked(stream(events))
    assert not answer.complete
    assert problem in answer.problem


async def test_a_refusal_is_told():
    answer, _ = await asked(b'{"error": "full"}', status=503)
    assert answer.problem.startswith("status 503")
    assert answer.done_s >= answer.sent_s


async def test_nobody_listening_is_told():
    time = EngineTime(WallClock(), 1.0)
    answer = Answer(sent_s=0.0)
    async with aiohttp.ClientSession() as session:
        await ChatClient(session, "http://127.0.0.1:1", "m", time).ask(answer, "r", [], 1)
    assert "ClientConnectorError" in answer.problem


async def test_a_cut_request_keeps_what_it_saw():
    hang = asyncio.Event()

    async def never(request):
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(stream([ROLE, WORD]))
        await hang.wait()
        return response

    application = web.Application()
    application.router.add_post("/v1/chat/completions", never)
    runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = site._server.sockets[0].getsockname()[1]
    answer = Answer(sent_s=0.0)
    async with aiohttp.ClientSession() as session:
        client = ChatClient(session, f"http://127.0.0.1:{port}", "m", EngineTime(WallClock(), 1.0))
        task = asyncio.create_task(client.ask(answer, "r", [], 5))
        async with asyncio.timeout(5):
            while answer.first_s is None:
                await asyncio.sleep(0)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
    await runner.cleanup()
    assert answer.done_s >= answer.first_s
    assert not answer.complete
