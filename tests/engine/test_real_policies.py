"""Many clients at once under several policies: every request is served once, whichever engine it went to."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import openai
import pytest

from .live import Engine, Gateway

pytestmark = pytest.mark.engine

POLICIES = [
    "round_robin",
    "least_requests",
    "two_choices",
    "peak_ewma",
    "least_response_time",
    "hybrid",
    "jffc",
    "fastest_completion",
]
CLIENTS = 12
TOKENS = 16


def stream_one(client: openai.OpenAI, model: str, number: int) -> tuple[int, str | None]:
    """Stream one answer; return its completion tokens and finish reason."""
    with client.chat.completions.create(
        model=model,
        messages=[{"role": "user", "content": f"Count the wagons of train {number}."}],
        max_tokens=TOKENS,
        stream=True,
        stream_options={"include_usage": True},
        extra_body={"ignore_eos": True},
    ) as stream:
        chunks = list(stream)
    usage = chunks[-1].usage
    ends = [choice.finish_reason for chunk in chunks for choice in chunk.choices if choice.finish_reason]
    assert usage is not None
    assert len(ends) == 1
    return usage.completion_tokens, ends[0]


def stream_many(client: openai.OpenAI, model: str) -> list[tuple[int, str | None]]:
    with ThreadPoolExecutor(CLIENTS) as pool:
        return list(pool.map(lambda number: stream_one(client, model, number), range(CLIENTS)))


@pytest.mark.parametrize("policy", POLICIES)
def test_every_request_is_served_once(
    policy: str,
    start_gateway: Callable[[str], Gateway],
    connect: Callable[[Gateway], openai.OpenAI],
    model: str,
    engines: list[Engine],
) -> None:
    client = connect(start_gateway(policy))
    before = [engine.served() for engine in engines]
    assert stream_many(client, model) == [(TOKENS, "length")] * CLIENTS
    served = [engine.served() - start for engine, start in zip(engines, before, strict=True)]
    assert sum(served) == CLIENTS
    if policy in ("round_robin", "least_requests"):
        assert min(served) >= CLIENTS // 3, f"both engines share the work: {served}"
