"""Connections to nodes: how they are kept, watched and let go."""

import asyncio
import errno
import socket

import pytest

from pointsman.brain.model.node import NodeState
from pointsman.clock import ManualClock
from pointsman.gateway.settings import Limits, Timeouts

from .conftest import Connecting, World, chat
from .scripted_upstream import Received, always, respond

GOOD = always(respond(b"{}"))


def idle_sockets(world: World) -> list[socket.socket]:
    """Of the connections that wait for their next request."""
    pools = world.gateway._targets._pools.values()
    return [connection._transport.get_extra_info("socket") for pool in pools for connection in pool._idle]


@pytest.mark.parametrize(
    ("gone_s", "idle_s", "between_s"), [(60.0, 30, 10), (0.5, 1, 1), (90000.0, 32767, 15000), (1e9, 32767, 32767)]
)
async def test_a_silent_peer_is_noticed(world: World, gone_s: float, idle_s: int, between_s: int) -> None:
    """The kernel probes a silent connection and gives up on bytes that nobody acknowledges."""
    await world.open(GOOD, timeouts=Timeouts(node_gone_s=gone_s, lame_duck_s=0))
    client = await world.client()
    assert (await client.ask(chat())).status == 200
    sock = idle_sockets(world)[-1]
    assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
    assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == min(gone_s * 1000, 2**31 - 1)
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == idle_s
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL) == between_s


def test_by_default_a_silent_peer_is_given_a_minute() -> None:
    assert Timeouts().node_gone_s == 60.0


async def test_an_unused_connection_is_closed_before_the_engine_would(world: World) -> None:
    world.clock = ManualClock()
    await world.open(GOOD, timeouts=Timeouts(node_idle_s=2.5, lame_duck_s=0))
    client = await world.client()
    assert (await client.ask(chat())).status == 200
    world.pass_time(2.0)
    assert idle_sockets(world)
    world.pass_time(1.0)
    assert not idle_sockets(world)
    before = world.nodes[0].connections
    assert (await client.ask(chat())).status == 200
    assert world.nodes[0].connections == before + 1


async def test_no_more_are_kept_than_allowed(world: World) -> None:
    release = asyncio.Event()

    async def held(_: Received, writer: asyncio.StreamWriter) -> None:
        await release.wait()
        writer.write(respond(b"{}"))

    await world.open(held, limits=Limits(idle_connections=2))
    clients = [await world.client() for _ in range(6)]
    for client in clients:
        client.send(chat())
    await world.until(lambda: len(world.nodes[0].requests) == 6)
    release.set()
    assert {(await client.response()).status for client in clients} == {200}
    await world.at_rest()
    assert len(idle_sockets(world)) == 2


@pytest.mark.parametrize("given", ["", "has space", "x" * 129, "émoji", "a;b", "<script>"])
async def test_a_malformed_request_id_is_replaced(world: World, given: str) -> None:
    """An id goes into logs and headers: only a well-formed one is taken over."""
    await world.open(GOOD)
    client = await world.client()
    response = await client.ask(chat(), headers=(f"x-request-id: {given}",))
    told = response.headers["x-request-id"]
    assert told.startswith("req-")
    assert world.nodes[0].requests[0].header("x-request-id") == told
    assert sum(name == "x-request-id" for name, _ in world.nodes[0].requests[0].headers) == 1


@pytest.mark.parametrize("given", ["", "0", "-1", "1.5", "soon", "1e3", "9" * 16])
async def test_a_malformed_limit_is_refused(world: World, given: str) -> None:
    await world.open(GOOD)
    client = await world.client()
    response = await client.ask(chat(), headers=(f"x-request-timeout-ms: {given}",))
    assert (response.status, response.json()["error"]["code"]) == (400, "invalid_request_error")
    assert (await client.ask(chat(), headers=("x-request-timeout-ms: 60000",))).status == 200
    assert world.nodes[0].requests[0].header("x-request-timeout-ms") is None


async def no_port_left(*_: object, **__: object) -> None:
    raise OSError(errno.EADDRNOTAVAIL, "no port left")


async def test_what_this_machine_lacks_is_no_fault_of_a_node(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Out of descriptors or ports: requests fail, probes tell nothing, and every node stays up."""
    world.clock = ManualClock()
    await world.open(GOOD, GOOD, timeouts=Timeouts(node_idle_s=2.5, lame_duck_s=0))
    world.pass_time(3.0)
    assert not idle_sockets(world)
    client = await world.client()
    loop = Connecting(no_port_left)
    with monkeypatch.context() as patch:
        patch.setattr(asyncio, "get_running_loop", lambda: loop)
        for _ in range(20):
            response = await client.ask(chat())
            assert (response.status, b"no_socket" in response.body) == (502, True)
        for _ in range(6):
            world.gateway.driver.call(lambda now: world.dispatcher.tick(now + 30.0))
            await asyncio.sleep(0.005)
    assert set(world.dispatcher.fleet.states) == {NodeState.UP}
    assert (await client.ask(chat())).status == 200
