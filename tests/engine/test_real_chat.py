"""The `openai` SDK through the gateway to real engines: what arrives is what the engine said."""

import openai
import pytest

from .live import Engine, Gateway

pytestmark = pytest.mark.engine

QUESTION = "What is the capital of France?"


def ask(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def test_a_plain_answer_makes_sense(client: openai.OpenAI, model: str) -> None:
    answer = client.chat.completions.create(model=model, messages=ask(QUESTION), temperature=0, max_tokens=30)
    assert answer.model == model
    assert answer.usage is not None
    assert answer.usage.prompt_tokens > 10
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    if model == "smollm2":
        assert answer.choices[0].finish_reason == "stop"
        assert "Paris" in answer.choices[0].message.content


def test_a_streamed_answer_is_the_plain_answer(client: openai.OpenAI, model: str) -> None:
    request = {"model": model, "messages": ask(QUESTION), "temperature": 0, "max_tokens": 30}
    plain = client.chat.completions.create(**request)
    with client.chat.completions.create(**request, stream=True) as stream:
        chunks = list(stream)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert text == plain.choices[0].message.content
    assert len(chunks) > 3
    assert len({chunk.id for chunk in chunks}) == 1
    assert chunks[-1].choices[0].finish_reason == plain.choices[0].finish_reason


def test_usage_comes_when_asked_for_and_only_then(client: openai.OpenAI, model: str) -> None:
    request = {"model": model, "messages": ask(QUESTION), "max_tokens": 5, "stream": True}
    with client.chat.completions.create(**request) as stream:
        silent = list(stream)
    with client.chat.completions.create(**request, stream_options={"include_usage": True}) as stream:
        asked = list(stream)
    assert all(chunk.choices and chunk.usage is None for chunk in silent)
    assert asked[-1].choices == []
    assert asked[-1].usage.completion_tokens == 5
    assert asked[-1].usage.prompt_tokens_details.cached_tokens is not None


def test_two_choices_interleave(client: openai.OpenAI, model: str) -> None:
    with client.chat.completions.create(
        model=model, messages=ask(QUESTION), n=2, max_tokens=8, stream=True, extra_body={"ignore_eos": True}
    ) as stream:
        ends = [c.finish_reason for chunk in stream for c in chunk.choices if c.finish_reason]
    assert ends == ["length", "length"]


def test_fields_of_the_engine_pass_both_ways(client: openai.OpenAI, model: str) -> None:
    with client.completions.create(
        model=model, prompt="The train", max_tokens=6, stream=True, extra_body={"return_token_ids": True}
    ) as stream:
        choices = [chunk.choices[0].model_dump() for chunk in stream]
    assert choices[0]["prompt_token_ids"]
    assert sum(len(choice["token_ids"]) for choice in choices) == 6


def test_the_fleet_has_one_model(client: openai.OpenAI, model: str) -> None:
    assert [found.id for found in client.models.list()] == [model]


def test_an_unknown_model_is_refused_by_the_gateway(
    client: openai.OpenAI, engines: list[Engine], gateway: Gateway
) -> None:
    with pytest.raises(openai.NotFoundError) as refused:
        client.chat.completions.create(model="nope", messages=ask("Hi"))
    assert refused.value.code == "model_not_found"


def test_the_engine_s_refusal_reaches_the_client(client: openai.OpenAI, model: str) -> None:
    with pytest.raises(openai.BadRequestError, match="maximum context length"):
        client.completions.create(model=model, prompt="and on " * 9000, max_tokens=1)
    answer = client.completions.create(model=model, prompt="Still here", max_tokens=1)
    assert answer.usage.completion_tokens == 1, "a client's mistake takes no engine out of service"
