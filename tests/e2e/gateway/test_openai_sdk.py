"""The client our users have, before emulated engines."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import openai
import pytest

from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.settings import BrainSettings
from pointsman.engine.emulator import Engine
from pointsman.engine.settings import EngineConfig

from .conftest import OVER_TLS, World

FAST: dict[str, Any] = {"port": 0, "time_scale": 50.0, "prefill_tokens_per_second": 1e6, "decode_base_ms": 20.0}
MODEL = "emulated"
MESSAGES: list[Any] = [{"role": "user", "content": "Who sets the points before the train arrives? 🚂"}]

ENDLESS: dict[str, Any] = {
    "model": MODEL, "max_tokens": 30_000, "stream": True, "extra_body": {"ignore_eos": True}
}  # fmt: skip
"""Twelve seconds of text, unless closed before."""


@pytest.fixture
def slots() -> int | None:
    """How many requests an engine may have at a time."""
    return None


@pytest.fixture
async def client(world: World, slots: int | None) -> AsyncIterator[openai.AsyncOpenAI]:
    """The SDK before a gateway before two engines."""
    async with AsyncExitStack() as stack:
        engines = [await stack.enter_async_context(Engine(EngineConfig(model=(MODEL,), **FAST))) for _ in range(2)]
        urls = [f"http://127.0.0.1:{engine.port}" for engine in engines]
        await world.start([NodeSpec(url=url, engine="vllm", slots=slots) for url in urls])
        await world.until(lambda: world.dispatcher.available(MODEL) == 2)
        http = openai.DefaultAsyncHttpxClient(trust_env=False, verify=world.client_tls or True)
        base = f"http{'s' * OVER_TLS}://127.0.0.1:{world.gateway.port}/v1"
        async with openai.AsyncOpenAI(base_url=base, api_key="unused", max_retries=0, http_client=http) as sdk:
            yield sdk
        await world.at_rest()


async def test_plain_chat(client: openai.AsyncOpenAI) -> None:
    answer = await client.chat.completions.create(model=MODEL, messages=MESSAGES, max_tokens=8)
    assert answer.choices[0].message.content
    assert answer.usage is not None
    assert answer.usage.completion_tokens == 8


async def text_of(stream: Any) -> str:
    return "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices])


async def test_streamed_chat_equals_the_plain_one(client: openai.AsyncOpenAI) -> None:
    plain = await client.chat.completions.create(model=MODEL, messages=MESSAGES, max_tokens=20)
    stream = await client.chat.completions.create(model=MODEL, messages=MESSAGES, max_tokens=20, stream=True)
    assert await text_of(stream) == plain.choices[0].message.content


async def test_usage_comes_only_when_asked_for(client: openai.AsyncOpenAI) -> None:
    for asked in (False, True):
        options: Any = {"stream_options": {"include_usage": True}} if asked else {}
        stream = await client.chat.completions.create(
            model=MODEL, messages=MESSAGES, max_tokens=5, stream=True, **options
        )
        chunks = [chunk async for chunk in stream]
        assert [not chunk.choices for chunk in chunks].count(True) == asked
        if asked:
            assert chunks[-1].usage is not None
            assert chunks[-1].usage.completion_tokens == 5


async def test_two_choices(client: openai.AsyncOpenAI) -> None:
    stream = await client.chat.completions.create(model=MODEL, messages=MESSAGES, max_tokens=5, n=2, stream=True)
    finished = {choice.index async for chunk in stream for choice in chunk.choices if choice.finish_reason}
    assert finished == {0, 1}


async def test_tools_and_null_content(client: openai.AsyncOpenAI) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages: list[Any] = [
        *MESSAGES,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "7"},
    ]
    tools: list[Any] = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
    answer = await client.chat.completions.create(model=MODEL, messages=messages, tools=tools, max_tokens=3)
    assert answer.choices[0].finish_reason


async def test_completions_by_text_and_by_ids(client: openai.AsyncOpenAI) -> None:
    by_text = await client.completions.create(model=MODEL, prompt="once upon", max_tokens=4)
    assert by_text.choices[0].text
    stream = await client.completions.create(model=MODEL, prompt="once upon", max_tokens=4, stream=True)
    assert "".join([chunk.choices[0].text async for chunk in stream if chunk.choices]) == by_text.choices[0].text


async def test_embeddings(client: openai.AsyncOpenAI) -> None:
    answer = await client.embeddings.create(model=MODEL, input="hi", encoding_format="float")
    assert len(answer.data[0].embedding) > 0


async def test_models(client: openai.AsyncOpenAI) -> None:
    assert [model.id async for model in client.models.list()] == [MODEL]


async def test_unknown_model(client: openai.AsyncOpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as error:
        await client.chat.completions.create(model="nope", messages=MESSAGES)
    assert error.value.code == "model_not_found"


async def test_the_engines_own_refusal(client: openai.AsyncOpenAI) -> None:
    with pytest.raises(openai.BadRequestError):
        await client.completions.create(model=MODEL, prompt="x", max_tokens=10_000_000)


async def test_many_at_once(client: openai.AsyncOpenAI) -> None:
    async def one(number: int) -> str:
        messages: list[Any] = [{"role": "user", "content": f"number {number}"}]
        stream = await client.chat.completions.create(
            model=MODEL, messages=messages, max_tokens=10, stream=True, extra_body={"ignore_eos": True}
        )
        return await text_of(stream)

    answers = await asyncio.gather(*[one(number) for number in range(40)])
    assert all(answers)
    assert len(set(answers)) == 40


@pytest.mark.parametrize("slots", [1])
async def test_a_stream_that_tells_of_waiting_reads_as_any_other(client: openai.AsyncOpenAI, world: World) -> None:
    plain = await client.chat.completions.create(model=MODEL, messages=MESSAGES, max_tokens=100)
    holding = [await client.chat.completions.create(messages=MESSAGES, **ENDLESS) for _ in range(2)]

    async def one() -> str:
        stream = await client.chat.completions.create(
            model=MODEL, messages=MESSAGES, max_tokens=100, stream=True, extra_headers={"x-pointsman-progress": "1"}
        )
        return await text_of(stream)

    waiting = asyncio.gather(*[one() for _ in range(6)])
    await world.until(lambda: world.metrics.queued == {(MODEL,): 6})
    for stream in holding:
        await stream.close()
    answers = await waiting
    assert set(answers) == {plain.choices[0].message.content}


@pytest.mark.parametrize("slots", [1])
async def test_a_refusal_after_waiting_is_the_sdks_own_error(client: openai.AsyncOpenAI, world: World) -> None:
    world.dispatcher.configure(BrainSettings(queue_timeout_s=0.2), world.clock.now())
    streams = [await client.chat.completions.create(messages=MESSAGES, **ENDLESS) for _ in range(2)]
    third = await client.chat.completions.create(
        messages=MESSAGES, extra_headers={"x-pointsman-progress": "1"}, **ENDLESS
    )
    with pytest.raises(openai.APIError) as error:
        await text_of(third)
    assert error.value.code == "queue_timeout"
    for stream in streams:
        await stream.close()
