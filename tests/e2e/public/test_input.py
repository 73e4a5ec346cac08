"""Input: what the client wrote is what the node reads, and equal prompts meet only in one cache."""

import json
from typing import Any

import pytest
from tests.e2e.gateway.conftest import World, chat
from tests.e2e.gateway.scripted_upstream import DONE, ROLE, always, event, respond, stream

GOOD = always(respond(b"{}"))
CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": None}}
BODIES = [
    json.dumps(chat(messages=[{"role": "assistant", "content": None, "tool_calls": [CALL]}])).encode(),
    json.dumps(chat(guided_json={"a": 1}, top_k=5, min_p=0.1, chat_template_kwargs={"thinking": True})).encode(),
    rb'{"model":"m","messages":[{"role":"user","content":"\ud83d"}],"stop":["\udc00"],"user":"\ud83d"}',
    rb'{"model":"m","messages":[{"role":"user","content":"\ud83d\ude80 \u00e9"}]}',
    '{"model":"m","messages":[{"role":"user","content":"안녕 🚂"}]}'.encode(),
    b'{"model":"m","messages":[],"seed":123456789012345678901234567890,"temperature":1.50e0,"x":-0.0}',
    b'{\n\t"model" : "m" ,\r\n "messages" : [ ] , "a" : {"a":1,"a":2} }  ',
    b'{"messages":[],"n":null,"stream":null,"stream_options":null,"max_tokens":null,"model":"m"}',
    rb'{"\u006dodel":"m","messages":[{"content":[{"type":"image_url","image_url":{"url":"data:,x"}}]}]}',
]
ASK = b'"stream_options":{"include_usage":true},'


@pytest.mark.parametrize("body", BODIES)
async def test_the_node_reads_the_clients_bytes(world: World, body: bytes) -> None:
    """Null arguments and contents, halves of characters, numbers as written, and whatever nobody has heard of."""
    await world.open(GOOD)
    client = await world.client()
    assert (await client.ask(body)).status == 200
    assert world.nodes[0].requests[0].body == body


@pytest.mark.parametrize("body", [body for body in BODIES if b'"stream' not in body])
async def test_a_streams_bytes_differ_by_the_declared_edit_only(world: World, body: bytes) -> None:
    await world.open(stream(ROLE, event({}, "stop"), DONE))
    client = await world.client()
    streamed = body.replace(b'"messages"', b'"stream":true,"messages"', 1)
    assert (await client.ask(streamed)).body == ROLE + event({}, "stop") + DONE
    sent = world.nodes[0].requests[0].body
    assert sent.count(ASK) == 1
    assert sent.replace(ASK, b"") == streamed


async def test_half_a_character_is_no_error_of_ours(world: World) -> None:
    """Also where the body has to be edited, and where the name of a model is looked for."""
    await world.open(stream(ROLE, event({"content": "\ud83d"}), event({"content": "\ude80"}, "stop")))
    client = await world.client()
    body = rb'{"model":"m","stream":true,"priority":1,"messages":[{"role":"user","content":"\ud83d"}]}'
    assert (await client.ask(body)).body.count(b"data: ") == 3
    sent = world.nodes[0].requests[0].body
    assert rb'"\ud83d"' in sent
    assert b"priority" not in sent
    assert (await client.ask(rb'{"model":"\ud83d"}')).status == 404


async def test_the_second_node_reads_the_same_bytes(world: World) -> None:
    body = json.dumps(chat(messages=[{"role": "user", "content": "x" * 3_000_000}], priority=7)).encode()
    await world.open(always(respond(b"{}", 503)), GOOD)
    client = await world.client()
    for _ in range(2):
        assert (await client.ask(body, headers=("x-request-id: one",))).status == 200
    first, second = world.nodes[0].requests[0], world.nodes[1].requests[0]
    assert first.body == second.body
    assert json.loads(first.body) == {key: value for key, value in json.loads(body).items() if key != "priority"}
    assert first.header("x-request-id") == second.header("x-request-id") == "one"


@pytest.mark.parametrize("path", ["/v1/responses", "/v1/messages", "/v1/embeddings", "/tokenize"])
async def test_paths_are_there_and_know_their_models(world: World, path: str) -> None:
    await world.open(GOOD)
    client = await world.client()
    assert (await client.ask({"model": "m", "input": "x"}, path=path)).status == 200
    refused = await client.ask({"model": "nope", "input": "x"}, path=path)
    assert (refused.status, refused.json()["error"]["code"]) == (404, "model_not_found")
    assert len(world.nodes[0].requests) == 1


LONG = "prefix " * 400


def asked(content: Any = LONG, **more: Any) -> dict[str, Any]:
    return chat(messages=[{"role": "user", "content": content}]) | more


def image(url: str) -> list[dict[str, Any]]:
    return [{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": LONG}]


DIFFERENT = {
    "plain": asked(),
    "adapter": asked(model="lora"),
    "salt": asked(cache_salt="x"),
    "namespace": asked(extra_key="x"),
    "engine's adapter": asked(lora_path="x"),
    "image": asked(image("data:image/png;base64,AA")),
    "another image": asked(image("data:image/png;base64,BB")),
    "reasoning": {"model": "m", "messages": [{"role": "assistant", "reasoning_content": "r" * 300, "content": LONG}]},
    "tool call": {"model": "m", "messages": [{"role": "assistant", "tool_calls": [CALL], "content": LONG}]},
    "tools": asked(tools=[{"type": "function", "function": {"name": "f", "parameters": {}}}]),
}


async def test_prompts_meet_only_in_one_cache(world: World) -> None:
    """Adapter, salt, image, tools, reasoning: each makes another prefix, and each finds itself again."""
    world.policy = "fastest_completion"
    await world.open(GOOD, models=("m", "lora"))
    client = await world.client()

    def hits() -> float:
        return sum(lane.predicted_tokens for lane in world.metrics.lanes.values())

    for name, body in DIFFERENT.items():
        before = hits()
        assert (await client.ask(body)).status == 200
        assert hits() == before, f"{name} was taken for something that had been asked before"
    for name, body in DIFFERENT.items():
        before = hits()
        assert (await client.ask(body)).status == 200
        assert hits() > before, f"{name} was not found again"


async def test_another_clients_salt_opens_no_cache(world: World) -> None:
    """A salt is a client's own: who guesses another's finds nothing by it."""
    await world.open(GOOD, api_keys=("k1", "k2"))
    client = await world.client()
    body = asked(cache_salt="x")
    for key in ("k1", "k2", "k1"):
        assert (await client.ask(body, headers=(f"authorization: Bearer {key}",))).status == 200
    first, second, third = (request.json()["cache_salt"] for request in world.nodes[0].requests)
    assert len({first, second, "x"}) == 3
    assert first == third
    lane = world.metrics.lanes["m", world.nodes[0].url]
    assert 0 < lane.predicted_tokens < 2 * len(LONG)
