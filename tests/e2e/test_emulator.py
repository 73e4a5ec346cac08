"""The emulated engine over real sockets, as its clients see it."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from pointsman.engine.emulator import Engine, serve
from pointsman.engine.settings import EngineConfig
from pointsman.wire.kv_orders import pack_links

FAST: dict[str, Any] = {"port": 0, "time_scale": 50.0, "prefill_tokens_per_second": 1e6, "decode_base_ms": 20.0}


class Client:
    """Talks to one engine."""

    def __init__(self, engine: Engine, session: aiohttp.ClientSession) -> None:
        self.engine = engine
        self.base = f"http://127.0.0.1:{engine.port}"
        self.session = session

    async def post(self, path: str, body: dict[str, Any], **headers: str) -> tuple[int, dict[str, Any]]:
        async with self.session.post(self.base + path, json=body, headers=headers) as response:
            return response.status, await response.json()

    async def get(self, path: str) -> str:
        async with self.session.get(self.base + path) as response:
            assert response.status == 200
            return await response.text()

    async def stream(self, path: str, body: dict[str, Any]) -> list[dict[str, Any]]:
        """The events of a stream, which must end with [DONE]."""
        async with self.session.post(self.base + path, json={**body, "stream": True}) as response:
            assert response.status == 200, await response.text()
            events = (await response.text()).split("\n\n")
        assert events[-2:] == ["data: [DONE]", ""]
        return [json.loads(event.removeprefix("data: ")) for event in events[:-2]]

    async def audit(self) -> list[dict[str, Any]]:
        records: list[dict[str, Any]] = json.loads(await self.get("/admin/audit"))
        return records

    async def until(self, event: str) -> dict[str, Any]:
        """The first audit record of that kind, once it is there."""
        async with asyncio.timeout(5):
            while True:
                for record in await self.audit():
                    if record["event"] == event:
                        return record
                await asyncio.sleep(0.005)


@pytest.fixture
async def client(request: pytest.FixtureRequest) -> AsyncIterator[Client]:
    """A client of an engine with the settings a test asks for by indirect parameters."""
    options = FAST | getattr(request, "param", {})
    async with Engine(EngineConfig(**options)) as engine, aiohttp.ClientSession() as session:
        yield Client(engine, session)


def chat(text: str = "hello there", **fields: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}], "max_tokens": 8, "ignore_eos": True, **fields}


def content(events: list[dict[str, Any]], index: int = 0) -> str:
    choices = [choice for event in events for choice in event["choices"] if choice["index"] == index]
    return "".join(choice["delta"]["content"] if "delta" in choice else choice["text"] for choice in choices)


CHAT, COMPLETIONS = "/v1/chat/completions", "/v1/completions"


async def test_a_chat_stream_has_vllms_shape(client: Client) -> None:
    events = await client.stream(CHAT, chat(stream_options={"include_usage": True}))
    assert events[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert [event["choices"][0]["finish_reason"] for event in events[:-1]] == [None] * 8 + ["length"]
    assert events[-1]["choices"] == []
    assert events[-1]["usage"] == {
        "prompt_tokens": 7,
        "completion_tokens": 8,
        "total_tokens": 15,
        "prompt_tokens_details": {"cached_tokens": 0},
    }
    assert len({event["id"] for event in events}) == 1
    assert {event["object"] for event in events} == {"chat.completion.chunk"}


async def test_streamed_and_whole_answers_are_the_same_words(client: Client) -> None:
    _, whole = await client.post(CHAT, chat())
    assert content(await client.stream(CHAT, chat())) == whole["choices"][0]["message"]["content"]
    assert whole["usage"]["completion_tokens"] == 8


async def test_usage_is_sent_only_on_request(client: Client) -> None:
    assert all("usage" not in event for event in await client.stream(CHAT, chat()))


async def test_the_second_turn_finds_the_first_in_the_cache(client: Client) -> None:
    first = chat("word " * 200, max_tokens=100)
    answer = (await client.post(CHAT, first))[1]["choices"][0]["message"]["content"]
    turns = [*first["messages"], {"role": "assistant", "content": answer}, {"role": "user", "content": "go on"}]
    usage = (await client.post(CHAT, {"messages": turns, "max_tokens": 2}))[1]["usage"]
    assert usage["prompt_tokens"] - usage["prompt_tokens_details"]["cached_tokens"] < 32
    assert "vllm:prefix_cache_hits_total" in await client.get("/metrics")


@pytest.mark.parametrize("client", [{"stream_interval": 3}], indirect=True)
async def test_chunks_hold_an_interval_after_the_first(client: Client) -> None:
    events = await client.stream(CHAT, chat(max_tokens=8))
    assert [len(event["choices"][0]["delta"]["content"].split()) for event in events[1:]] == [1, 3, 3, 1]


async def test_several_choices_share_a_stream(client: Client) -> None:
    events = await client.stream(CHAT, chat(n=3))
    texts = [content(events, index) for index in range(3)]
    assert len(set(texts)) == 3
    assert all(len(text.split()) == 8 for text in texts)
    finishes = [choice["index"] for event in events for choice in event["choices"] if choice["finish_reason"]]
    assert sorted(finishes) == [0, 1, 2]


async def test_several_prompts_are_numbered_through(client: Client) -> None:
    _, answer = await client.post(COMPLETIONS, {"prompt": ["one", "two"], "n": 2, "max_tokens": 3})
    assert [choice["index"] for choice in answer["choices"]] == [0, 1, 2, 3]
    assert answer["usage"]["prompt_tokens"] == 2
    _, alone = await client.post(COMPLETIONS, {"prompt": "two", "max_tokens": 3})
    assert answer["choices"][2]["text"] == alone["choices"][0]["text"]


async def test_answers_end_by_themselves_unless_told_not_to(client: Client) -> None:
    natural = [await client.post(CHAT, chat(str(n), max_tokens=5000, ignore_eos=False)) for n in range(5)]
    assert {answer["choices"][0]["finish_reason"] for _, answer in natural} == {"stop"}
    lengths = [answer["usage"]["completion_tokens"] for _, answer in natural]
    assert len(set(lengths)) > 1
    body = chat("0", max_tokens=lengths[0] + 10, ignore_eos=True)
    assert (await client.post(CHAT, body))[1]["usage"]["completion_tokens"] == lengths[0] + 10
    body = chat("0", max_tokens=5000, ignore_eos=False, min_tokens=lengths[0] + 1)
    assert (await client.post(CHAT, body))[1]["usage"]["completion_tokens"] > lengths[0]


async def test_a_replay_gets_the_length_it_asks_for(client: Client) -> None:
    body = chat(max_tokens=None, ignore_eos=False, emulator={"output_tokens": 321})
    _, answer = await client.post(CHAT, body)
    assert answer["usage"]["completion_tokens"] == 321
    assert answer["choices"][0]["finish_reason"] == "stop"
    words = answer["choices"][0]["message"]["content"].split(" ")[1:]
    rest = [*body["messages"], {"role": "assistant", "content": " " + " ".join(words[:300])}]
    again = {**body, "messages": rest, "add_generation_prompt": False, "continue_final_message": True}
    assert (await client.post(CHAT, again))[1]["choices"][0]["message"]["content"].split(" ")[1:] == words[300:]


async def test_a_stop_string_ends_the_answer_before_it(client: Client) -> None:
    _, whole = await client.post(CHAT, chat(max_tokens=40))
    text = whole["choices"][0]["message"]["content"]
    stop = text[40:47]
    events = await client.stream(CHAT, chat(max_tokens=40, stop=["not there", stop]))
    assert content(events) == text[: text.index(stop)]
    assert events[-1]["choices"][0]["finish_reason"] == "stop"
    assert events[-1]["choices"][0]["stop_reason"] == stop
    _, kept = await client.post(CHAT, chat(max_tokens=40, stop=stop, include_stop_str_in_output=True))
    assert kept["choices"][0]["message"]["content"] == text[: text.index(stop)] + stop


async def test_cutting_anywhere_and_continuing_gives_the_same_text(client: Client) -> None:
    """By chat continuation, by text and by token ids, at every chunk boundary."""
    body = chat(max_tokens=30, return_token_ids=True)
    events = await client.stream(CHAT, body)
    prompt_ids = events[0]["prompt_token_ids"]
    assert sum(len(event["choices"][0].get("token_ids", [])) for event in events) == 30
    whole = content(events)
    as_text = (await client.post("/detokenize", {"tokens": prompt_ids}))[1]["prompt"]
    assert as_text == "<|user|>hello there<|end|><|assistant|>"
    for cut in range(1, len(events) - 1):
        text = content(events[: cut + 1])
        ids = [token for event in events[: cut + 1] for token in event["choices"][0].get("token_ids", [])]
        partial = [*body["messages"], {"role": "assistant", "content": text}]
        flags = {"add_generation_prompt": False, "continue_final_message": True}
        by_chat = await client.stream(CHAT, chat(max_tokens=30 - cut) | {"messages": partial} | flags)
        by_ids = await client.stream(
            COMPLETIONS, {"prompt": prompt_ids + ids, "max_tokens": 30 - cut, "ignore_eos": True}
        )
        assert text + content(by_chat) == whole
        assert text + content(by_ids) == whole


async def test_a_completion_continues_from_its_text(client: Client) -> None:
    body = {"prompt": "once upon", "max_tokens": 20, "ignore_eos": True, "return_token_ids": True}
    events = await client.stream(COMPLETIONS, body)
    assert (
        events[0]["choices"][0]["prompt_token_ids"]
        == (await client.post("/tokenize", {"prompt": "once upon"}))[1]["tokens"]
    )
    whole = content(events)
    for cut in range(1, 20):
        text = content(events[:cut])
        rest = await client.stream(COMPLETIONS, {**body, "prompt": "once upon" + text, "max_tokens": 20 - cut})
        assert text + content(rest) == whole


@pytest.mark.parametrize(
    ("path", "body", "status", "message"),
    [
        (CHAT, chat(model="other"), 404, "The model `other` does not exist."),
        (CHAT, chat("word " * 3000), 400, "maximum context length is 2000 tokens"),
        (CHAT, chat(max_tokens=1999), 400, "is too large: 1999"),
        (CHAT, chat(priority=1), 400, "priority scheduling is not enabled"),
        (CHAT, chat(n=0, max_tokens=0), 400, "max_tokens must be at least 1"),
        (CHAT, chat(stream_options={"include_usage": True}), 400, "Stream options"),
        (CHAT, {"messages": "hi"}, 400, "$.messages"),
        (CHAT, {"messages": [{"role": "bard", "content": "hi"}]}, 400, "unknown role"),
        (COMPLETIONS, {"prompt": "hi", "echo": True}, 400, "echo is not supported"),
        (COMPLETIONS, {"prompt": [1, "hi"]}, 400, "A prompt is"),
        (COMPLETIONS, {"prompt": ""}, 400, "must not be empty"),
        (COMPLETIONS, {"prompt": [-1]}, 400, "out of range"),
    ],
)
@pytest.mark.parametrize("client", [{"max_model_len": 2000}], indirect=True)
async def test_bad_requests_are_told_why(
    client: Client, path: str, body: dict[str, Any], status: int, message: str
) -> None:
    got, answer = await client.post(path, body)
    assert got == status
    assert message in answer["error"]["message"]
    assert answer["error"]["code"] == status


@pytest.mark.parametrize("client", [{"scheduling_policy": "priority", "max_num_seqs": 1}], indirect=True)
async def test_the_urgent_overtake_the_waiting(client: Client) -> None:
    running = asyncio.create_task(client.post(CHAT, chat("a", max_tokens=30_000)))
    await client.until("start")
    late = asyncio.create_task(client.post(CHAT, chat("b", priority=5), **{"X-Request-Id": "late"}))
    urgent = asyncio.create_task(client.post(CHAT, chat("c", priority=-5), **{"X-Request-Id": "urgent"}))
    assert client.engine.driver is not None
    async with asyncio.timeout(5):
        while client.engine.driver.core.waiting < 2:
            await asyncio.sleep(0.001)
    running.cancel()
    await asyncio.gather(late, urgent)
    ended = [record["request_id"] for record in await client.audit() if record["event"] == "finish"]
    assert ended.index("urgent") < ended.index("late")


@pytest.mark.parametrize("client", [{"time_scale": 1.0}], indirect=True)
@pytest.mark.parametrize("stream", [True, False])
async def test_a_client_that_leaves_frees_the_engine_at_once(client: Client, stream: bool) -> None:
    body = chat(max_tokens=30_000, stream=stream)
    leaving = asyncio.create_task(client.post(CHAT, body))
    await client.until("first" if stream else "start")
    leaving.cancel()
    record = await client.until("abort")
    assert record["completion_tokens"] < 100
    driver = client.engine.driver
    assert driver is not None
    assert (driver.core.running, driver.core.waiting, driver.core.kv_usage) == (0, 0, 0.0)
    assert 'vllm:request_success_total{engine="0",finished_reason="abort"' in await client.get("/metrics")


async def test_request_ids_are_echoed_and_audited(client: Client) -> None:
    headers = {"X-Request-Id": "r-1", "X-Pointsman-Attempt": "2"}
    async with client.session.post(client.base + CHAT, json=chat(), headers=headers) as response:
        assert response.headers["X-Request-Id"] == "r-1"
        assert (await response.json())["id"] == "chatcmpl-r-1"
    records = await client.audit()
    assert [record["event"] for record in records] == ["start", "finish"]
    assert {record["request_id"] for record in records} == {"r-1"}
    assert records[1]["attempt"] == "2"
    assert records[1]["virtual"] > records[0]["virtual"]


async def test_engine_time_does_not_drift(client: Client) -> None:
    """A token takes exactly its step time in the audit-free metrics, whatever the timers did."""
    await client.post(CHAT, chat(max_tokens=101))
    metrics = await client.get("/metrics")
    total = next(line for line in metrics.splitlines() if line.startswith("vllm:inter_token_latency_seconds_sum"))
    assert float(total.split()[-1]) == pytest.approx(100 * 0.020)


async def test_metrics_carry_vllms_names(client: Client) -> None:
    await client.post(CHAT, chat())
    metrics = await client.get("/metrics")
    for name in ("num_requests_running", "num_requests_waiting", "kv_cache_usage_perc", "num_preemptions_total"):
        assert f'vllm:{name}{{engine="0",model_name="Llama-3-8B"}} 0.0' in metrics
    assert 'vllm:generation_tokens_total{engine="0",model_name="Llama-3-8B"} 8.0' in metrics
    assert 'block_size="16"' in metrics
    assert 'vllm:time_to_first_token_seconds_count{engine="0",model_name="Llama-3-8B"} 1.0' in metrics


async def test_embeddings_depend_on_the_text_alone(client: Client) -> None:
    _, answer = await client.post("/v1/embeddings", {"input": ["a b", "c", "a b"], "dimensions": 4})
    first, second, third = (item["embedding"] for item in answer["data"])
    assert first == third != second
    assert len(first) == 4
    assert answer["usage"]["prompt_tokens"] == 5


async def test_it_says_that_it_is_emulated(client: Client) -> None:
    assert json.loads(await client.get("/version"))["emulated"] is True
    assert "EMULATED" in client.engine.banner()
    models = json.loads(await client.get("/v1/models"))
    assert models["data"][0]["id"] == "Llama-3-8B"


@pytest.mark.parametrize("client", [{"model": ("a", "b")}], indirect=True)
async def test_every_served_name_answers_under_its_name(client: Client) -> None:
    assert (await client.post(CHAT, chat(model="b")))[1]["model"] == "b"
    assert (await client.post(CHAT, chat()))[1]["model"] == "a"


@pytest.mark.parametrize("client", [{"api_key": "secret"}], indirect=True)
async def test_a_key_is_asked_for(client: Client) -> None:
    status, answer = await client.post(CHAT, chat())
    assert (status, answer["error"]["code"]) == (401, 401)
    assert (await client.post(CHAT, chat(), Authorization="Bearer secret"))[0] == 200
    await client.get("/health")


async def test_reset_forgets_the_cache(client: Client) -> None:
    await client.post(CHAT, chat("word " * 100))
    assert (await client.post("/admin/reset", {}))[0] == 200
    assert await client.audit() == []
    usage = (await client.post(CHAT, chat("word " * 100)))[1]["usage"]
    assert usage["prompt_tokens_details"]["cached_tokens"] == 0


async def test_reset_waits_for_an_idle_engine(client: Client) -> None:
    running = asyncio.create_task(client.post(CHAT, chat(max_tokens=30_000)))
    await client.until("start")
    assert (await client.post("/admin/reset", {}))[0] == 409
    assert json.loads(await client.get("/load")) == {"server_load": 1}
    running.cancel()
    await client.until("abort")
    assert (await client.post("/admin/reset", {}))[0] == 200


async def test_chats_are_tokenized_with_their_template(client: Client) -> None:
    body = chat()
    _, tokenized = await client.post("/tokenize", body)
    _, answered = await client.post(CHAT, body | {"return_token_ids": True})
    assert tokenized["tokens"] == answered["prompt_token_ids"]
    assert tokenized["count"] == answered["usage"]["prompt_tokens"]
    _, completion = await client.post(COMPLETIONS, {"prompt": tokenized["tokens"], "return_token_ids": True})
    assert completion["choices"][0]["prompt_token_ids"] == tokenized["tokens"]
    assert (await client.post("/tokenize", {}))[0] == 400
    assert (await client.post("/detokenize", {"tokens": [-1]}))[0] == 400


@pytest.mark.parametrize(("path", "status"), [("/nowhere", 404), ("/health", 405)])
async def test_unknown_routes_are_answered_in_json(client: Client, path: str, status: int) -> None:
    got, answer = await client.post(path, {})
    assert got == status
    assert "detail" in answer


async def test_the_audit_is_also_a_file(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    async with Engine(EngineConfig(**FAST, audit_log=str(path))) as engine, aiohttp.ClientSession() as session:
        client = Client(engine, session)
        await client.post(CHAT, chat())
        recorded = await client.audit()
    assert [json.loads(line) for line in path.read_text().splitlines()] == recorded


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (EngineConfig(gpu="B9000"), "unknown gpu 'B9000'"),
        (EngineConfig(audit_log="/nonexistent/log"), "/nonexistent/log"),
    ],
)
def test_what_cannot_be_made_says_why(config: EngineConfig, reason: str) -> None:
    with pytest.raises((ValueError, OSError), match=reason):
        Engine(config)


def test_a_port_that_is_taken_is_told_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert serve(Engine(EngineConfig(port=port))) == 1
    assert str(port) in capsys.readouterr().err


async def test_a_port_that_is_taken_is_an_error(client: Client) -> None:
    with pytest.raises(OSError, match=str(client.engine.port)):
        await Engine(EngineConfig(port=client.engine.port)).__aenter__()


async def test_the_openai_client_understands_it(client: Client) -> None:
    openai = pytest.importorskip("openai")
    async with openai.AsyncOpenAI(base_url=client.base + "/v1", api_key="none") as sdk:
        stream = await sdk.chat.completions.create(
            model="Llama-3-8B",
            messages=[{"role": "user", "content": "hello there"}],
            max_tokens=8,
            stream=True,
            extra_body={"ignore_eos": True},
        )
        text = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])
        assert text == (await client.post(CHAT, chat()))[1]["choices"][0]["message"]["content"]
        embedding = await sdk.embeddings.create(model="Llama-3-8B", input="hi")
        _, plain = await client.post("/v1/embeddings", {"input": "hi"})
        assert embedding.data[0].embedding == pytest.approx(plain["data"][0]["embedding"], abs=1e-6)
        with pytest.raises(openai.NotFoundError):
            await sdk.chat.completions.create(model="other", messages=[{"role": "user", "content": "hi"}])


LINKS = tuple(range(900, 908))
NAMED = {"x-pointsman-chain": pack_links(LINKS).decode()}
OBEYS = {"obeys": True, "swap_memory_gib": 1.0}


@pytest.mark.parametrize("client", [OBEYS], indirect=True)
async def test_an_engine_that_obeys_evicts_pins_and_says_so(client: Client) -> None:
    prompt = " ".join(f"word{number}" for number in range(200))
    status, _ = await client.post(COMPLETIONS, {"prompt": prompt, "max_tokens": 2}, **NAMED)
    assert status == 200
    held = json.loads(await client.get("/kv"))
    assert held["obeys"]
    assert held["named"] >= len(LINKS)
    assert held["tiers"][0]["seconds_per_block"] > 0
    evict = {"order": "evict", "links": LINKS[:3:-1]}
    pin = {"order": "pin", "links": LINKS}
    status, answer = await client.post("/kv/orders", {"orders": [evict, pin]})
    assert status == 200
    evicted, pinned = answer["done"]
    assert evicted["blocks"] + pinned["blocks"] == held["named"]
    assert (evicted["unknown"], pinned["unknown"]) == (0, 4)
    after = json.loads(await client.get("/kv"))
    assert (after["named"], after["pinned"]) == (pinned["blocks"], pinned["blocks"])
    assert json.loads(await client.get("/version"))["obeys"]


@pytest.mark.parametrize("client", [OBEYS], indirect=True)
async def test_orders_and_names_that_are_none_are_refused(client: Client) -> None:
    status, answer = await client.post("/kv/orders", {"orders": [{"order": "burn"}]})
    assert (status, "burn" in answer["error"]["message"]) == (400, True)
    status, answer = await client.post(CHAT, chat(), **{"x-pointsman-chain": "$"})
    assert (status, "base64" in answer["error"]["message"]) == (400, True)


async def test_an_engine_that_does_not_obey_refuses_orders(client: Client) -> None:
    assert not json.loads(await client.get("/kv"))["obeys"]
    status, answer = await client.post("/kv/orders", {"orders": []})
    assert (status, "--obeys" in answer["error"]["message"]) == (409, True)
