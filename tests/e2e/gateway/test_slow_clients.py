"""Clients that send or take bytes slowly, or none at all, cost a connection for a while, and nobody else anything."""

import asyncio
import contextlib
import socket
import struct

import pytest

from pointsman.clock import ManualClock
from pointsman.gateway.server import ClientConnection
from pointsman.gateway.settings import Limits, Timeouts

from .conftest import CHAT, OVER_TLS, SOON_S, Client, World, chat
from .scripted_upstream import DONE, ROLE, STREAM_HEAD, Received, always, chunk, event, never, respond

GOOD = always(respond(b"{}"))
HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 13\r\n"
BODY = b'{"model":"m"}'
STOP = chunk(event({}, "stop")) + chunk(DONE) + b"0\r\n\r\n"


@pytest.fixture
async def patient(world: World) -> World:
    """A world whose clock stands: a test says what time passes."""
    world.clock = ManualClock()
    return world


async def drip(world: World, client: Client, data: bytes, gap_s: float) -> None:
    """Send byte by byte, with so much time after each, until the other side has enough."""
    with contextlib.suppress(ConnectionError, RuntimeError):  # uvloop's word for a closed transport is RuntimeError
        for at in range(len(data)):
            client.writer.write(data[at : at + 1])
            await asyncio.sleep(0.001)
            world.pass_time(gap_s)


async def closed(client: Client) -> bytes:
    """What still comes, up to the end of the connection; cut with bytes unread is a reset."""
    try:
        return await client.reader.read()
    except ConnectionError:
        return b""


def connections(world: World) -> set[ClientConnection]:
    return world.gateway._server.connections


@pytest.mark.parametrize("first", [b"", HEAD + b"\r\n" + BODY])
async def test_dripping_a_head_buys_no_time(patient: World, first: bytes) -> None:
    await patient.open(GOOD, timeouts=Timeouts(client_head_s=10.0, lame_duck_s=0))
    client = await patient.client()
    await patient.until(lambda: bool(connections(patient)))
    if first:
        client.writer.write(first)
        assert (await client.response()).status == 200
    await drip(patient, client, HEAD, gap_s=9.0 / len(HEAD))
    assert connections(patient)
    await drip(patient, client, b"a: " + b"b" * 1000, gap_s=0.1)
    assert await asyncio.wait_for(closed(client), SOON_S) == b""
    await patient.until(lambda: not connections(patient))
    assert len(patient.nodes[0].requests) == bool(first)


async def test_empty_lines_are_no_way_to_stay_for_nothing(world: World) -> None:
    await world.open(GOOD)
    client = await world.client()
    client.writer.write(b"\r\n" * 9_000)
    assert (await client.response()).status == 431


async def test_a_body_may_take_its_time_but_not_stop(patient: World) -> None:
    await patient.open(GOOD, timeouts=Timeouts(client_head_s=2.0, client_body_s=6.0, lame_duck_s=0))
    client = await patient.client()
    client.writer.write(HEAD + b"\r\n")
    await drip(patient, client, BODY, gap_s=1.0)  # more than client_body_s in all
    assert (await client.response()).status == 200
    client.writer.write(HEAD + b"\r\n" + BODY[:5])
    (connection,) = connections(patient)
    await patient.until(lambda: connection._reader.inside_body)
    patient.pass_time(5.0)
    assert not connection._transport.is_closing()
    patient.pass_time(1.0)
    assert await asyncio.wait_for(closed(client), SOON_S) == b""
    assert len(patient.nodes[0].requests) == 1


async def test_an_unused_connection_is_closed_in_order(patient: World) -> None:
    await patient.open(GOOD, timeouts=Timeouts(client_idle_s=3.0, client_head_s=3.0, lame_duck_s=0))
    client = await patient.client()
    for _ in range(3):
        assert (await client.ask(chat())).status == 200
        patient.pass_time(2.0)
    (connection,) = connections(patient)
    assert not connection._transport.is_closing()
    patient.pass_time(1.0)
    assert await asyncio.wait_for(closed(client), SOON_S) == b""


async def test_a_thousand_idle_connections_cost_nobody_anything(patient: World) -> None:
    await patient.open(GOOD, timeouts=Timeouts(client_head_s=10.0, lame_duck_s=0))
    idle = [await patient.client() for _ in range(1000)]
    for client in idle[::2]:
        client.writer.write(HEAD)
    busy = await patient.client()
    for _ in range(20):
        assert (await busy.ask(chat())).status == 200
    await patient.until(lambda: len(connections(patient)) == 1001)
    await patient.until(lambda: sum(each._reader.inside_message for each in connections(patient)) == 500)
    patient.pass_time(10.0)
    await patient.until(lambda: len(connections(patient)) == 1)
    assert (await busy.ask(chat())).status == 200


@pytest.mark.skipif(OVER_TLS, reason="asyncio's TLS cannot close one direction")
@pytest.mark.parametrize("sent", [b"", HEAD, HEAD + b"\r\n" + BODY[:5], HEAD + b"\r\n" + BODY])
async def test_a_client_that_sends_no_more_is_gone(world: World, sent: bytes) -> None:
    """A closed connection cannot be told from a half-closed one before something is written to it."""
    await world.open(never)
    client = await world.client()
    client.writer.write(sent)
    if sent.endswith(BODY):
        await world.until(lambda: bool(world.nodes[0].requests))
    client.writer.write_eof()
    assert await asyncio.wait_for(closed(client), SOON_S) == b""
    await world.at_rest()
    await world.until(lambda: not connections(world))


async def everything(client: Client) -> bytes:
    """The rest of an answer in chunks."""
    body = bytearray()
    while not body.endswith(b"\r\n0\r\n\r\n"):
        data = await client.reader.read(1 << 20)
        assert data
        body += data
    return bytes(body)


class Flood:
    """A node that sends large events as fast as they are taken, and counts them."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.sent = 0

    async def __call__(self, _: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunk(ROLE))
        big = chunk(event({"content": "x" * 50_000}))
        for _ in range(self.count):
            writer.write(big)
            await writer.drain()
            self.sent += len(big)
        writer.write(STOP)


async def still(flood: Flood) -> int:
    """What a flood has sent when nothing moves any more."""
    before = -1
    while flood.sent != before:
        before = flood.sent
        await asyncio.sleep(0.3)
    return before


async def test_what_is_held_for_a_slow_reader_is_bounded(world: World) -> None:
    flood = Flood(1_000)
    await world.open(flood)
    client = await world.client()
    client.writer.transport.pause_reading()  # type: ignore[attr-defined]
    client.send(chat(stream=True))
    await world.until(lambda: any(each._stalled_at >= 0 for each in connections(world)))
    assert await still(flood) < 20_000_000  # what the buffers of four sockets hold, of 50 MB
    (connection,) = connections(world)
    assert 0 < connection._transport.get_write_buffer_size() <= 256 * 1024 + 256 * 1024  # the limit, and one read
    client.writer.transport.resume_reading()  # type: ignore[attr-defined]
    assert (await everything(client)).count(b"x" * 50_000) == 1_000


async def test_a_reader_that_takes_a_little_now_and_then_stays(patient: World) -> None:
    await patient.open(Flood(600), timeouts=Timeouts(client_stall_s=60.0, lame_duck_s=0))
    client = await patient.client()
    client.writer.transport.pause_reading()  # type: ignore[attr-defined]
    client.send(chat(stream=True))
    await patient.until(lambda: bool(patient.nodes[0].requests))
    (connection,) = connections(patient)
    for _ in range(5):
        await patient.until(lambda: connection._stalled_at >= 0)
        patient.pass_time(40.0)
        waiting = connection._transport.get_write_buffer_size()
        client.writer.transport.resume_reading()  # type: ignore[attr-defined]
        while connection._transport.get_write_buffer_size() == waiting:
            assert await client.reader.read(1 << 16)
        client.writer.transport.pause_reading()  # type: ignore[attr-defined]
    client.writer.transport.resume_reading()  # type: ignore[attr-defined]
    assert b"[DONE]" in await everything(client)
    await patient.at_rest()


@pytest.mark.parametrize("streamed", [True, False])
async def test_a_reader_that_takes_nothing_is_dropped_and_others_do_not_notice(patient: World, streamed: bool) -> None:
    async def either(request: Received, writer: asyncio.StreamWriter) -> None:
        if request.json().get("user") != "slow":
            await Flood(3)(request, writer)
        elif streamed:
            await Flood(2_000)(request, writer)
        else:
            writer.write(respond(b"x" * 50_000_000))
            await writer.drain()
            await asyncio.sleep(30)

    await patient.open(either, timeouts=Timeouts(client_stall_s=5.0, client_idle_s=1e9, total_s=1e9, lame_duck_s=0))
    slow, quick = await patient.client(), await patient.client()
    slow.writer.transport.pause_reading()  # type: ignore[attr-defined]
    slow.send(chat(stream=streamed, user="slow"))
    await patient.until(lambda: any(connection._stalled_at >= 0 for connection in connections(patient)))
    for _ in range(10):
        assert (await quick.ask(chat(stream=True))).complete
    assert len(connections(patient)) == 2
    await patient.until(lambda: patient.passes(3.0) and patient.nodes[0].left.is_set())
    await patient.until(lambda: len(connections(patient)) == 1)
    assert (await quick.ask(chat(stream=True))).status == 200
    await patient.at_rest()


async def test_a_flood_of_pipelined_requests_waits_outside(world: World) -> None:
    await world.open(never)
    client = await world.client()
    request = HEAD + b"\r\n" + BODY
    sent = 0
    with contextlib.suppress(TimeoutError):
        while sent < 100_000_000:
            client.writer.write(request * 5_000)
            sent += len(request) * 5_000
            await asyncio.wait_for(client.writer.drain(), 0.5)
    assert sent < 30_000_000  # what the sockets' buffers hold
    (connection,) = connections(world)
    assert len(connection._waiting) < 10_000  # what one read holds
    await world.until(lambda: len(world.nodes[0].requests) == 1)
    reset = struct.pack("ii", 1, 0)  # an orderly end would wait behind the flood, where nobody sees it
    client.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
    client.writer.transport.abort()
    await world.at_rest()


async def test_a_body_up_to_the_limit_and_not_a_byte_more(world: World) -> None:
    await world.open(GOOD)
    limit = 64 * 1024 * 1024
    body = b'{"model":"m","x":"' + b"x" * (limit - 20) + b'"}'
    client = await world.client()
    assert (await client.ask(body)).status == 200
    assert len(world.nodes[0].requests[0].body) == limit
    client = await world.client()
    client.writer.write(HEAD.replace(b"13", b"%d" % (limit + 1)) + b"\r\n" + body + b" ")
    response = await client.response()
    assert (response.status, response.headers["connection"]) == (413, "close")
    client = await world.client()
    start = HEAD.replace(b"content-length: 13", b"transfer-encoding: chunked") + b"\r\n"
    client.writer.write(start + chunk(body) + chunk(b" ") + b"0\r\n\r\n")
    assert (await client.response()).status == 413
    assert len(world.nodes[0].requests) == 1


@pytest.mark.parametrize("pieces", [1, 50])
async def test_a_head_up_to_the_limits_and_not_a_byte_more(world: World, pieces: int) -> None:
    await world.open(GOOD)

    async def status(head: bytes) -> int:
        client = await world.client()
        step = len(head) // pieces + 1
        for at in range(0, len(head), step):
            client.writer.write(head[at : at + step])
            await asyncio.sleep(0)
        client.writer.write(BODY)
        return (await client.response()).status

    room = 16 * 1024 - len(HEAD + b"a: \r\n\r\n")
    assert await status(HEAD + b"a: " + b"b" * room + b"\r\n\r\n") == 200
    assert await status(HEAD + b"a: " + b"b" * (room + 1) + b"\r\n\r\n") == 431
    assert await status(HEAD + b"a: b\r\n" * 98 + b"\r\n") == 200
    assert await status(HEAD + b"a: b\r\n" * 99 + b"\r\n") == 431
    line = b"POST /v1/chat/completions?%b HTTP/1.1\r\nhost: x\r\ncontent-length: 13\r\n\r\n"
    assert await status(line % (b"q" * 16_000)) == 200
    assert await status(line % (b"q" * 17_000)) == 431


EXPECTING = (
    "POST {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\nexpect: {expect}\r\ncontent-length: {n}\r\n\r\n"
)


@pytest.mark.parametrize(
    ("path", "key", "length", "status"),
    [
        (CHAT, "k", 13, 200),
        (CHAT, "wrong", 13, 401),
        (CHAT, "k", 1001, 413),
        ("/nowhere", "k", 13, 404),
        ("/health", "k", 13, 405),
    ],
)
@pytest.mark.parametrize("expect", ["100-continue", "100-Continue  "])
async def test_only_a_good_head_is_told_to_continue(
    world: World, path: str, key: str, length: int, status: int, expect: str
) -> None:
    await world.open(GOOD, api_keys=("k",), limits=Limits(body_bytes=1000))
    client = await world.client()
    client.writer.write(EXPECTING.format(path=path, key=key, n=length, expect=expect).encode())
    response = await client.response()
    if status == 200:
        assert response.status == 100
        client.writer.write(BODY)
        response = await client.response()
    assert response.status == status
    if status != 200:
        assert await closed(client) == b""
        assert not world.nodes[0].requests


async def test_who_does_not_wait_to_be_told_is_served_once(world: World) -> None:
    await world.open(GOOD, limits=Limits(body_bytes=1000))
    client = await world.client()
    client.writer.write(EXPECTING.format(path=CHAT, key="k", n=13, expect="100-continue").encode() + BODY)
    statuses = [(await client.response()).status]
    if statuses == [100]:
        statuses.append((await client.response()).status)
    assert statuses[-1] == 200
    assert (await client.ask(chat())).status == 200
    assert len(world.nodes[0].requests) == 2


async def test_other_expectations_are_passed_over(world: World) -> None:
    await world.open(GOOD)
    client = await world.client()
    client.writer.write(EXPECTING.format(path=CHAT, key="k", n=13, expect="x").encode() + BODY)
    assert (await client.response()).status == 200
