"""A client that leaves frees its engine: generation stops at once, not when the answer would have been complete."""

import asyncio
import time

import openai
import pytest

from .live import Engine, Gateway, wait_until

pytestmark = pytest.mark.engine

PROMPT = "Tell me a very long story about a railway station."
# Seconds that the answer takes if nobody interrupts: measured at about 55 and 1000 tokens/s on one core.
TOKENS = {"smollm2": 2000, "tiny": 7500}


@pytest.fixture
def long_answer(model: str) -> dict[str, object]:
    body = {"ignore_eos": True}
    return {"model": model, "prompt": PROMPT, "max_tokens": TOKENS[model], "extra_body": body}


def total_running(engines: list[Engine]) -> float:
    return sum(engine.running() for engine in engines)


def assert_stopped(engines: list[Engine], generated_before: float, whole: int) -> None:
    """The running request ends within 2 s, no token is generated after that, and the answer was not complete."""
    wait_until(lambda: total_running(engines) == 0, 2.0, "generation stops after the client left")
    generated = sum(engine.generated() for engine in engines)
    time.sleep(0.5)
    assert sum(engine.generated() for engine in engines) == generated
    assert generated - generated_before < whole / 2, "the answer was nearly complete before the client left"


def test_closing_a_stream_stops_generation(
    client: openai.OpenAI, engines: list[Engine], long_answer: dict[str, object], model: str
) -> None:
    before = sum(engine.generated() for engine in engines)
    with client.completions.create(**long_answer, stream=True) as stream:
        for _ in range(5):
            next(stream)
        wait_until(lambda: total_running(engines) == 1, 2.0, "the engine runs the request")
    assert_stopped(engines, before, TOKENS[model])


async def test_leaving_a_plain_request_stops_generation(
    gateway: Gateway, engines: list[Engine], long_answer: dict[str, object], model: str
) -> None:
    before = sum(engine.generated() for engine in engines)
    http = openai.DefaultAsyncHttpxClient(trust_env=False)
    async with openai.AsyncOpenAI(base_url=f"{gateway.url}/v1", api_key="x", max_retries=0, http_client=http) as client:
        request = asyncio.create_task(client.completions.create(**long_answer))
        await asyncio.to_thread(wait_until, lambda: total_running(engines) == 1, 5.0, "the engine runs the request")
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
        await asyncio.to_thread(assert_stopped, engines, before, TOKENS[model])


def test_work_continues_after_many_clients_left(
    client: openai.OpenAI, engines: list[Engine], long_answer: dict[str, object], model: str
) -> None:
    for _ in range(6):
        with client.completions.create(**long_answer, stream=True) as stream:
            next(stream)
    wait_until(lambda: total_running(engines) == 0, 2.0, "all generations stop")
    answer = client.completions.create(model=model, prompt=PROMPT, max_tokens=3, extra_body={"ignore_eos": True})
    assert answer.usage.completion_tokens == 3
