"""Settings change under running requests: these end as they began, the next go by what holds now."""

import asyncio

import msgspec

from pointsman.clock import ManualClock
from pointsman.gateway.routes import PlainRoute

from .conftest import QUICK, SOON_S, World, chat
from .scripted_upstream import ROLE, always, event, respond, standing

EVENTS = (ROLE, *[event({"content": "x"})] * 20, event({}, "stop"))
OK = always(respond(b'{"choices":[]}'))
KEYS = ("authorization: Bearer old",)


async def test_keys_change_and_a_running_stream_does_not_notice(world: World) -> None:
    go = asyncio.Event()
    await world.open(standing(go, *EVENTS), api_keys=("old",), node_key="inner")
    client, other = await world.client(), await world.client()
    client.send(chat(stream=True), headers=KEYS)
    await client.reader.readuntil(b'"x"')
    world.gateway.configure(msgspec.structs.replace(world.gateway.settings, api_keys=("new",), node_key="inner2"))
    go.set()
    assert (await client.reader.readuntil(b"\r\n0\r\n\r\n")).count(b'"x"') == 19
    assert (await client.ask(chat(), headers=KEYS)).status == 401
    world.nodes[0].script = OK
    assert (await other.ask(chat(), headers=("authorization: Bearer new",))).status == 200
    assert [request.header("authorization") for request in world.nodes[0].requests] == ["Bearer inner", "Bearer inner2"]


async def test_a_request_goes_on_by_the_routes_its_head_met(world: World) -> None:
    await world.open(OK, allow_paths=("/v1/guided",), api_keys=("old",))
    client = await world.client()
    body = b'{"model":"m"}'
    head = f"POST /v1/guided HTTP/1.1\r\nhost: x\r\n{KEYS[0]}\r\ncontent-length: {len(body)}\r\n"
    client.writer.write(head.encode() + b"expect: 100-continue\r\n\r\n")
    assert (await client.response()).status == 100  # so its head was met, and by these routes
    client.writer.write(body[:5])
    world.gateway.configure(msgspec.structs.replace(world.gateway.settings, allow_paths=(), api_keys=("new",)))
    client.writer.write(body[5:])
    assert (await client.response()).status == 200
    assert (await client.ask(body, path="/v1/guided")).status == 404


async def test_routes_and_time_outs_follow(world: World) -> None:
    world.clock = ManualClock()
    await world.open(OK)
    client = await world.client()
    assert (await client.ask(b"img", path="/classify")).status == 404
    changed = msgspec.structs.replace(
        world.gateway.settings,
        routes={"/classify": PlainRoute(pool="m")},
        timeouts=msgspec.structs.replace(QUICK, client_idle_s=0.2),
    )
    world.gateway.configure(changed)
    assert (await client.ask(b"img", path="/classify")).status == 200
    world.pass_time(0.3)
    assert await asyncio.wait_for(client.reader.read(), SOON_S) == b""


async def test_the_secret_of_prompt_hashes_stays(world: World) -> None:
    await world.open(OK)
    before = world.gateway.settings
    assert len(before.chain_secret) == 16
    world.gateway.configure(msgspec.structs.replace(before, chain_secret=b"", host="0.0.0.0", port=1))
    assert world.gateway.settings == before
