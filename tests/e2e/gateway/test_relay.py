"""What comes back is what the node sent; what goes out is what the client sent, save declared edits."""

import json
from pathlib import Path

import pytest

from .conftest import World, chat
from .scripted_upstream import DONE, ROLE, USAGE, always, event, respond, stream

VLLM = Path(__file__).parents[2] / "fixtures" / "vllm"
TEXT = event({"content": "Hi"})
STOP = event({}, "stop")


def recorded(name: str) -> tuple[bytes, bytes]:
    """Raw response and unchunked body of a recording."""
    raw = (VLLM / f"{name}.http").read_bytes()
    rest = raw.partition(b"\r\n\r\n")[2]
    body = b""
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        body, rest = body + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
    return raw, body


@pytest.mark.parametrize("name", ["chat_stream_usage", "chat_stream_n2", "completion_stream_token_ids"])
async def test_recorded_stream_passes_unchanged(world: World, name: str) -> None:
    raw, body = recorded(name)
    await world.open(always(raw))
    client = await world.client()
    asked = chat(stream=True, n=2 if "n2" in name else 1, stream_options={"include_usage": True})
    response = await client.ask(asked)
    assert response.complete
    assert response.body == body
    assert response.headers["x-accel-buffering"] == "no"
    await world.at_rest()


async def test_plain_answer_and_headers(world: World) -> None:
    body = b'{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}'
    extra = "x-engine: e\r\nkeep-alive: timeout=5\r\nx-hop: secret\r\nconnection: x-hop\r\n"
    await world.open(always(respond(body, extra=extra)))
    client = await world.client()
    response = await client.ask(chat(), headers=("x-request-id: my-id",))
    assert (response.status, response.body) == (200, body)
    assert response.headers["x-engine"] == "e"
    assert response.headers["x-request-id"] == "my-id"
    assert not {"x-hop", "keep-alive", "connection"} & set(response.headers)


async def test_request_reaches_the_node_as_sent(world: World) -> None:
    await world.open(always(respond(b"{}")))
    client = await world.client()
    body = rb'{ "model":"m", "messages":[{"role":"user","content":"\ud83d"}], "future": 1.50, "max_tokens": null }'
    await client.ask(
        body,
        headers=(
            "authorization: Bearer secret",
            "x-api-key: secret",
            "x-pointsman-node: evil",
            "x-data-parallel-rank: 3",
            "accept-encoding: gzip",
            "x-forwarded-for: 10.0.0.1",
            "x-custom: kept",
            "x-hop: dropped",
            "connection: keep-alive, x-hop",
        ),
    )
    request = world.nodes[0].requests[0]
    assert request.body == body
    assert request.header("x-custom") == "kept"
    assert request.header("accept-encoding") == "identity"
    assert request.header("host") == f"127.0.0.1:{world.nodes[0].port}"
    names = {name for name, _ in request.headers}
    dropped = {"authorization", "x-api-key", "x-pointsman-node", "x-data-parallel-rank", "x-forwarded-for", "x-hop"}
    assert not names & dropped
    assert "secret" not in str(request.headers)


@pytest.mark.parametrize(("peers", "passes"), [((), False), (("10.0.0.0/8",), False), (("127.0.0.0/8",), True)])
async def test_only_a_trusted_peer_says_on_whose_behalf_it_asks(
    world: World, peers: tuple[str, ...], passes: bool
) -> None:
    await world.open(always(respond(b"{}")), trusted_peers=peers)
    client = await world.client()
    behalf = ("forwarded: for=10.0.0.1", "x-forwarded-for: 10.0.0.1", "x-forwarded-user: root", "x-real-ip: 10.0.0.1")
    for _ in range(2):
        assert (await client.ask(chat(), headers=(*behalf, "x-pointsman-node: evil"))).status == 200
    for request in world.nodes[0].requests:
        sent = {f"{name}: {value}" for name, value in request.headers}
        assert (set(behalf) <= sent) is passes
        assert passes or not set(behalf) & sent
        assert request.header("x-pointsman-node") is None


async def test_nodes_are_told_who_asks_where_that_is_wanted(world: World) -> None:
    await world.open(always(respond(b"{}")), forwarded_for=True)
    client = await world.client()
    for _ in range(2):
        assert (await client.ask(chat(), headers=("x-forwarded-for: 10.0.0.1",))).status == 200
    for request in world.nodes[0].requests:
        assert [value for name, value in request.headers if name == "x-forwarded-for"] == ["127.0.0.1"]
        assert request.header("x-forwarded-proto") == ("https" if world.client_tls else "http")


async def test_usage_is_asked_for_and_taken_out(world: World) -> None:
    await world.open(stream(ROLE, TEXT, STOP, USAGE, DONE))
    client = await world.client()
    response = await client.ask(chat(stream=True))
    assert response.body == ROLE + TEXT + STOP + DONE
    sent = world.nodes[0].requests[0].json()
    assert sent == chat(stream=True) | {"stream_options": {"include_usage": True}}


async def test_usage_the_client_asked_for_stays(world: World) -> None:
    await world.open(stream(ROLE, TEXT, STOP, USAGE, DONE))
    client = await world.client()
    asked = chat(stream=True, stream_options={"include_usage": True})
    response = await client.ask(asked)
    assert response.body == ROLE + TEXT + STOP + USAGE + DONE
    assert world.nodes[0].requests[0].body == json.dumps(asked).encode()


async def test_control_members_are_removed(world: World) -> None:
    await world.open(always(respond(b"{}")))
    client = await world.client()
    await client.ask(chat(kv_transfer_params={"a": [1, "}"]}, vllm_xargs={}, priority=-5, seed=1))
    assert world.nodes[0].requests[0].json() == chat(seed=1)


async def test_connections_to_nodes_are_reused(world: World) -> None:
    await world.open(always(respond(b"{}")))
    client = await world.client()
    for _ in range(10):
        assert (await client.ask(chat())).status == 200
    assert world.nodes[0].connections <= 1


async def test_crlf_events_pass_and_count(world: World) -> None:
    lines = [each.replace(b"\n", b"\r\n") for each in (ROLE, TEXT, STOP, DONE)]
    await world.open(stream(*lines))
    client = await world.client()
    response = await client.ask(chat(stream=True))
    assert response.body == b"".join(lines)


async def test_event_of_two_mib(world: World) -> None:
    big = event({"tool_calls": [{"function": {"arguments": "x" * (2 << 20)}}]})
    await world.open(stream(ROLE, big, STOP, DONE))
    client = await world.client()
    response = await client.ask(chat(stream=True))
    assert response.body == ROLE + big + STOP + DONE


async def test_http_10_client_gets_a_closed_body(world: World) -> None:
    await world.open(stream(ROLE, TEXT, STOP, DONE))
    client = await world.client()
    body = json.dumps(chat(stream=True)).encode()
    client.writer.write(b"POST /v1/chat/completions HTTP/1.0\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
    raw = await client.reader.read()
    head, _, rest = raw.partition(b"\r\n\r\n")
    assert b"transfer-encoding" not in head
    assert rest == ROLE + TEXT + STOP + DONE


async def test_node_under_a_path(world: World) -> None:
    """A base URL may have a path of its own."""
    await world.open(always(respond(b"{}")))
    from pointsman.brain.model.node import NodeSpec

    node = world.nodes[0]
    world.gateway.add_node(NodeSpec(url=node.url + "/prefix/", id="p", models=("p",)))
    await world.until(lambda: world.dispatcher.available("p") == 1)
    client = await world.client()
    assert (await client.ask(chat() | {"model": "p"})).status == 200
    assert node.requests[-1].path == "/prefix/v1/chat/completions"
