"""TLS towards clients and towards nodes. With POINTSMAN_OVER_TLS set, all the other tests here run over TLS too."""

import asyncio
import ssl
from contextlib import suppress
from typing import Any

import msgspec
import pytest

from pointsman.brain.model.node import NodeSpec
from pointsman.clock import ManualClock
from pointsman.config.tls import node_context
from pointsman.gateway.settings import Limits, Timeouts
from pointsman.gateway.upstream import ConnectFailed

from .conftest import QUICK, SOON_S, TLS, Client, World, chat, client_tls, server_tls
from .scripted_upstream import DONE, ROLE, Script, ScriptedUpstream, always, event, never, respond, standing, stream

OK = always(respond(b'{"choices":[]}'))
TEXT = [event({"content": "x"})] * 20
EVENTS = (ROLE, *TEXT, event({}, "stop"), DONE)
WHOLE = stream(*EVENTS)


def subject(client: Client) -> str:
    """The common name of the certificate that the client was shown."""
    name: str = client.writer.get_extra_info("peercert")["subject"][0][0][1]
    return name


@pytest.fixture
async def secure(world: World) -> World:
    return await world.open(WHOLE, tls=server_tls("one"))


async def test_a_stream_arrives_whole(secure: World) -> None:
    client = await secure.client()
    assert (await client.ask(chat(stream=True))).body == b"".join((ROLE, *TEXT, event({}, "stop"), DONE))
    connection: ssl.SSLObject = client.writer.get_extra_info("ssl_object")
    assert connection.version() == "TLSv1.3"
    assert subject(client) == "one"


async def test_another_certificate_is_for_new_connections(secure: World) -> None:
    go = asyncio.Event()
    secure.nodes[0].script = standing(go, *EVENTS)
    client = await secure.client()
    client.send(chat(stream=True))
    await client.reader.readuntil(b'"x"')
    secure.gateway.configure(msgspec.structs.replace(secure.gateway.settings, tls=server_tls("two")))
    assert subject(await secure.client()) == "two"
    go.set()
    assert (await client.reader.readuntil(b"\r\n0\r\n\r\n")).count(b'"x"') == 19
    assert (await client.ask(method="GET", path="/health")).status == 200


async def test_http_11_is_what_is_spoken_and_old_tls_is_not(secure: World) -> None:
    tls = client_tls()
    tls.set_alpn_protocols(["h2", "http/1.1"])
    async with Client(secure.gateway.port, tls) as client:
        assert client.writer.get_extra_info("ssl_object").selected_alpn_protocol() == "http/1.1"
    tls = client_tls()
    tls.minimum_version = ssl.TLSVersion.TLSv1_2
    tls.maximum_version = ssl.TLSVersion.TLSv1_2
    async with Client(secure.gateway.port, tls) as client:
        assert (await client.ask(method="GET", path="/health")).status == 200
    assert secure.gateway.settings.tls is not None
    assert secure.gateway.settings.tls.minimum_version is ssl.TLSVersion.TLSv1_2


@pytest.mark.parametrize("words", [b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n", b"\x16\x03\x01", b"\0" * 70_000, b""])
async def test_who_does_not_come_to_a_handshake_is_gone_in_time(world: World, words: bytes) -> None:
    await world.open(OK, tls=server_tls("one"), timeouts=msgspec.structs.replace(QUICK, client_head_s=0.5))
    async with Client(world.gateway.port) as client:
        client.writer.write(words)
        with suppress(ConnectionError):
            assert b"HTTP" not in await asyncio.wait_for(client.reader.read(), SOON_S)
    await world.until(lambda: not world.gateway._server.connections)
    assert (await (await world.client()).ask(chat())).status == 200


@pytest.mark.parametrize("leave", ["close", "reset"])
@pytest.mark.parametrize("script", [never, stream(ROLE, *TEXT * 500, gap_s=0.02)])
async def test_a_client_that_leaves_takes_its_request_along(world: World, leave: str, script: Script) -> None:
    await world.open(script, tls=server_tls("one"))
    client = await world.client()
    client.send(chat(stream=True))
    await world.until(lambda: bool(world.nodes[0].requests))
    if leave == "close":
        client.writer.close()
    else:
        client.writer.transport.abort()
    await asyncio.wait_for(world.nodes[0].left.wait(), SOON_S)
    await world.at_rest()


async def test_a_slow_reader_pauses_its_node_and_gets_everything(world: World) -> None:
    text = event({"content": "x" * 10_000})
    await world.open(
        stream(ROLE, *[text] * 2000, event({}, "stop"), DONE),
        tls=server_tls("one"),
        limits=Limits(stream_buffer_bytes=64 * 1024),
    )
    client = await world.client()
    client.send(chat(stream=True))
    await client.reader.readuntil(b"xxx")
    transport = next(iter(world.gateway._server.connections))._transport
    await world.until(lambda: transport.get_write_buffer_size() > 64 * 1024)
    await asyncio.sleep(0.1)
    assert transport.get_write_buffer_size() < 1024 * 1024
    client.reader._limit = 1 << 25  # type: ignore[attr-defined]
    rest = await asyncio.wait_for(client.reader.readuntil(b"\r\n0\r\n\r\n"), 20)
    assert rest.count(b'"content"') >= 1999
    await world.at_rest()


async def test_a_client_that_takes_nothing_is_dropped(world: World) -> None:
    world.clock = ManualClock()
    text = event({"content": "x" * 10_000})
    await world.open(
        stream(ROLE, *[text] * 2000, event({}, "stop"), DONE),
        tls=server_tls("one"),
        timeouts=Timeouts(client_stall_s=5.0, total_s=1e9, lame_duck_s=0),
        limits=Limits(stream_buffer_bytes=64 * 1024),
    )
    client = await world.client()
    client.send(chat(stream=True))
    await client.reader.readuntil(b"xxx")
    client.writer.transport.pause_reading()  # type: ignore[attr-defined]
    (connection,) = world.gateway._server.connections
    await world.until(lambda: connection._stalled_at >= 0)
    await world.until(lambda: world.passes(3.0) and world.nodes[0].left.is_set())
    await world.at_rest()


async def test_a_refusal_reaches_a_client_that_is_still_sending(world: World) -> None:
    await world.open(OK, tls=server_tls("one"), limits=Limits(body_bytes=1000))
    client = await world.client()
    client.send(b"x" * 500_000)
    response = await client.response()
    assert response.status == 413
    assert response.headers["connection"] == "close"
    assert response.complete


# Nodes


async def behind(world: World, node: ScriptedUpstream, **settings: Any) -> NodeSpec:
    """A gateway before one https node."""
    await world._stack.enter_async_context(node)
    spec = NodeSpec(url=node.url)
    world.nodes.append(node)
    await world.start([spec], **settings)
    return spec


async def test_a_node_signed_by_the_authority_given(world: World) -> None:
    node = ScriptedUpstream(WHOLE, tls=server_tls("one"))
    await behind(world, node, node_tls=node_context(str(TLS / "ca.pem")))
    await world.until(lambda: world.dispatcher.available() == 1)
    client = await world.client()
    assert (await client.ask(chat(stream=True))).body.count(b'"x"') == 20
    node.script = OK
    for _ in range(3):
        assert (await client.ask(chat(padding="x" * 200_000))).status == 200
    assert len(node.requests[-1].body) > 200_000
    assert node.connections == 1
    node.script = never
    client.send(chat())
    await world.until(lambda: len(node.requests) == 5)
    client.writer.transport.abort()
    await asyncio.wait_for(node.left.wait(), SOON_S)


@pytest.mark.parametrize(
    ("certificate", "authority", "reason"),
    [
        ("foreign", "ca.pem", "tls: unable to get local issuer certificate"),
        ("one", "", "tls: unable to get local issuer certificate"),
    ],
)
async def test_nodes_are_asked_for_proof(world: World, certificate: str, authority: str, reason: str) -> None:
    node = ScriptedUpstream(OK, tls=server_tls(certificate))
    spec = await behind(world, node, node_tls=node_context(authority and str(TLS / authority)))
    with pytest.raises(ConnectFailed, match=reason):
        await world.gateway._targets.of(spec).pool.connect()
    await world.until(lambda: world.dispatcher.membership.health.records[0].probe_fails > 0)
    assert world.dispatcher.available() == 0
    assert not node.probes


async def test_a_node_that_speaks_plain_http_is_found_out(world: World) -> None:
    async def no_request(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(respond(b"", 400))
        writer.close()

    async with await asyncio.start_server(no_request, "127.0.0.1", 0) as server:
        await world.start([])
        port = server.sockets[0].getsockname()[1]
        pool = world.gateway._targets.of(NodeSpec(url=f"https://127.0.0.1:{port}")).pool
        with pytest.raises(ConnectFailed, match=r"^tls: \w+: it seems to speak plain HTTP; .* begins with http://$"):
            await pool.connect()


async def test_a_node_must_be_who_its_address_says(world: World) -> None:
    node = ScriptedUpstream(OK, tls=server_tls("one"))
    await behind(world, node, node_tls=node_context(str(TLS / "ca.pem")))
    elsewhere = NodeSpec(url=node.url.replace("127.0.0.1", "127.1"))  # the same address, but not in the certificate
    with pytest.raises(ConnectFailed, match="tls: Hostname mismatch"):
        await world.gateway._targets.of(elsewhere).pool.connect()


async def test_another_authority_is_asked_for_from_then_on(world: World) -> None:
    node = ScriptedUpstream(OK, tls=server_tls("one"))
    spec = await behind(world, node, node_tls=node_context(str(TLS / "ca.pem")))
    pool = world.gateway._targets.of(spec).pool
    (await pool.connect()).close()
    world.gateway.configure(
        msgspec.structs.replace(world.gateway.settings, node_tls=node_context(str(TLS / "foreign.pem")))
    )
    with pytest.raises(ConnectFailed, match="tls: "):
        await pool.connect()
