"""No request hides in another: what could be read in two ways is refused, through a real gateway, before an engine."""

import asyncio
import re
from collections.abc import Callable, Iterator

import pytest
from tests.support.smuggling import AMBIGUOUS, CHAT, HOST, PATH, SECOND, SECOND_ID, UNUSUAL

from pointsman.brain.model.node import NodeSpec
from pointsman.engine.emulator import Engine
from pointsman.engine.settings import EngineConfig

from .conftest import World
from .scripted_upstream import Received, always, respond

FAST = EngineConfig(port=0, model=("m",), time_scale=100.0, prefill_tokens_per_second=1e6, decode_base_ms=5.0)
TOGETHER = 16
STATUS = re.compile(rb"HTTP/1\.1 \d")
LAST = SECOND.replace(b"content-length", b"connection: close\r\ncontent-length")

Pieces = Callable[[bytes], Iterator[bytes]]


def whole(raw: bytes) -> Iterator[bytes]:
    yield raw


def halves(raw: bytes) -> Iterator[bytes]:
    yield raw[: len(raw) // 2]
    yield raw[len(raw) // 2 :]


def lines(raw: bytes) -> Iterator[bytes]:
    """Cut between the two bytes of each CRLF."""
    yield from (piece + b"\r" for piece in raw.split(b"\r")[:-1])
    yield raw.rpartition(b"\r")[2]


def drops(raw: bytes) -> Iterator[bytes]:
    """Byte by byte as far as it matters, then the rest."""
    yield from (raw[at : at + 1] for at in range(min(len(raw), 1000)))
    yield raw[1000:]


async def exchange(world: World, pieces: Iterator[bytes]) -> bytes:
    """All that comes back until the gateway closes, to a client that sends no more when it does."""
    reader, writer = await asyncio.open_connection("127.0.0.1", world.gateway.port, ssl=world.client_tls)
    answer = asyncio.ensure_future(reader.read())
    try:
        for piece in pieces:
            if not answer.done():
                writer.write(piece)
                await asyncio.sleep(0)
        async with asyncio.timeout(10):
            return await answer
    finally:
        writer.transport.abort()


def fault(answer: bytes) -> str:
    """What is wrong with the answer to a request that must be refused; empty for nothing."""
    if not answer.startswith(b"HTTP/1.1 400 "):
        return f"was answered {answer[:30]!r}"
    if len(STATUS.findall(answer)) != 1:
        return "was answered more than once"
    return "" if b"\r\nconnection: close\r\n" in answer else "was kept alive"


@pytest.fixture
async def engine(world: World) -> Engine:
    """A real engine, emulated, behind a real gateway."""
    engine = await world._stack.enter_async_context(Engine(FAST))
    await world.start([NodeSpec(url=f"http://127.0.0.1:{engine.port}")])
    await world.until(lambda: world.dispatcher.available() == 1)
    return engine


@pytest.mark.parametrize("pieces", [whole, halves, lines, drops])
async def test_an_ambiguous_request_is_refused_once_and_nothing_reaches_the_engine(
    world: World, engine: Engine, pieces: Pieces
) -> None:
    limit = asyncio.Semaphore(TOGETHER)

    async def refused(raw: bytes) -> str:
        async with limit:
            return fault(await exchange(world, pieces(raw + SECOND)))

    faults = await asyncio.gather(*(refused(raw) for raw in AMBIGUOUS.values()))
    assert not {name: fault for name, fault in zip(AMBIGUOUS, faults, strict=True) if fault}
    assert not engine._audit.records
    await world.at_rest()


@pytest.mark.parametrize("pieces", [whole, halves, lines])
async def test_an_unusual_request_is_served_and_so_is_the_next(world: World, engine: Engine, pieces: Pieces) -> None:
    served = {}
    for name, raw in UNUSUAL.items():
        served[name] = (await exchange(world, pieces(raw + LAST))).count(b"HTTP/1.1 200 ")
    assert {name: count for name, count in served.items() if count != 2} == {}

    def finished() -> list[str]:
        return [record.request_id for record in engine._audit.records if record.event == "finish"]

    await world.until(lambda: len(finished()) >= 2 * len(UNUSUAL))
    assert len(finished()) == 2 * len(UNUSUAL)
    assert finished().count(SECOND_ID) == len(UNUSUAL)


@pytest.mark.parametrize("path", [b"/health", PATH])
@pytest.mark.parametrize(
    "last", [b"HTTP/1.1\r\nconnection: close\r\n", b"HTTP/1.1\r\nconnection: keep-alive, close\r\n", b"HTTP/1.0\r\n"]
)
async def test_nothing_is_served_behind_the_last_request(world: World, path: bytes, last: bytes) -> None:
    await world.open(always(respond(b"{}")))
    method = b"POST" if path == PATH else b"GET"
    first = b"%b %b %b" % (method, path, last) + HOST + b"content-length: %d\r\n\r\n" % len(CHAT) + CHAT
    answer = await exchange(world, whole(first + SECOND))
    assert len(STATUS.findall(answer)) == 1
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert len(world.nodes[0].requests) == (path == PATH)


async def test_a_node_sees_a_target_in_origin_form_and_its_own_host(world: World) -> None:
    await world.open(always(respond(b"{}")))
    line = b"POST HTTP://elsewhere.example:81%b?a=b HTTP/1.1\r\n" % PATH
    await exchange(world, whole(line + HOST + b"connection: close\r\ncontent-length: %d\r\n\r\n" % len(CHAT) + CHAT))
    (request,) = world.nodes[0].requests
    assert request.line == f"POST {PATH.decode()}?a=b HTTP/1.1"
    assert request.header("host") == f"127.0.0.1:{world.nodes[0].port}"


async def test_options_of_the_server_as_a_whole(world: World) -> None:
    await world.open(always(respond(b"{}")), api_keys=("k",))
    for target in (b"*", b"http://x"):
        answer = await exchange(world, whole(b"OPTIONS %b HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n" % target))
        assert answer.startswith(b"HTTP/1.1 204 ")


async def test_a_node_sees_one_framing_of_ours(world: World) -> None:
    """Whatever the client's framing was, a node gets the body's length and nothing that could name another one."""
    seen: list[Received] = []

    async def script(request: Received, writer: asyncio.StreamWriter) -> None:
        seen.append(request)
        writer.write(respond(b"{}"))

    await world.open(script)
    for raw in UNUSUAL.values():
        await exchange(world, whole(raw + LAST))
    assert len(seen) == 2 * len(UNUSUAL)
    for request in seen:
        names = [name for name, _ in request.headers]
        assert request.header("content-length") == str(len(CHAT))
        assert names.count("content-length") == names.count("host") == 1
        assert "transfer-encoding" not in names
        assert "upgrade" not in names
        assert request.body == CHAT
