"""A gateway inside the test's own loop, with nodes that do as they are told."""

import asyncio
import json
import os
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import uvloop

from pointsman.brain.dispatcher import Dispatcher
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.policies.registry import build
from pointsman.brain.policies.table import PolicyTable
from pointsman.clock import Clock, ManualClock, WallClock
from pointsman.config.tls import server_context
from pointsman.gateway.app import Gateway, GatewaySettings
from pointsman.gateway.settings import Timeouts
from pointsman.observe.metrics import Metrics

from .scripted_upstream import Script, ScriptedUpstream

TLS = Path(__file__).parents[2] / "fixtures" / "tls"
OVER_TLS = bool(os.environ.get("POINTSMAN_OVER_TLS"))
"""Set it to see everything here happen over TLS."""
QUICK = Timeouts(lame_duck_s=0.0, drain_s=60.0)
SOON_S = 8.0
"""What must happen happens within milliseconds, on a busy machine too; this only stops a test that waits in vain. It is
less than the gateway's own time-outs (10 s for a head), which would hide that nothing else has ended what they end."""
CHAT = "/v1/chat/completions"


def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """The loop the gateway is made for."""
    return {"uvloop": uvloop.new_event_loop}


def server_tls(name: str) -> ssl.SSLContext:
    """What a server shows that has the certificate `name` of the fixtures."""
    context = server_context(str(TLS / f"{name}.pem"), str(TLS / f"{name}.key"))
    assert context is not None
    return context


def client_tls() -> ssl.SSLContext:
    """For a client that trusts the fixtures' authority."""
    return ssl.create_default_context(cafile=str(TLS / "ca.pem"))


@dataclass(frozen=True)
class Response:
    status: int
    headers: dict[str, str]
    body: bytes
    complete: bool

    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """A raw HTTP/1.1 connection to the gateway, over TLS if it has a context for that."""

    def __init__(self, port: int, tls: ssl.SSLContext | None = None) -> None:
        self._port = port
        self._tls = tls

    async def __aenter__(self) -> "Client":
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self._port, limit=1 << 20, ssl=self._tls)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.transport.abort()

    def send(self, body: Any = None, path: str = CHAT, method: str = "POST", headers: tuple[str, ...] = ()) -> None:
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", "host: test", f"content-length: {len(data)}", *headers, "", ""]
        self.writer.write("\r\n".join(lines).encode() + data)

    async def ask(self, *arguments: Any, **named: Any) -> Response:
        self.send(*arguments, **named)
        return await self.response()

    async def response(self) -> Response:
        """The next response; `complete` is false when the connection ended inside its body."""
        head = await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), 30)
        first, *lines = head.decode("latin-1").split("\r\n")[:-2]
        headers = {name: value for name, _, value in (line.partition(": ") for line in lines)}
        status = int(first.split(" ")[1])
        try:
            body = b"" if status in (100, 204, 304) else await asyncio.wait_for(self._body(headers), 30)
            return Response(status, headers, body, True)
        except asyncio.IncompleteReadError as error:
            return Response(status, headers, error.partial, False)

    async def _body(self, headers: dict[str, str]) -> bytes:
        if "content-length" in headers:
            return await self.reader.readexactly(int(headers["content-length"]))
        body = b""
        while size := int((await self.reader.readuntil(b"\r\n")), 16):
            body += (await self.reader.readexactly(size + 2))[:-2]
        await self.reader.readexactly(2)
        return body


class World:
    """A gateway, its nodes, and clients; everything is closed at the end of the test.

    `policy` decides; set it before `open` or `start`. `metrics` counts what the brain tells. With a ManualClock as its
    `clock`, which stands unless told otherwise, no time-out of a request or connection can come too early.
    """

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack
        self.nodes: list[ScriptedUpstream] = []
        self.client_tls: ssl.SSLContext | None = None
        self.policy = "round_robin"
        self.clock: Clock = WallClock()
        self.metrics = Metrics()

    async def open(
        self,
        *scripts: Script,
        slots: int | None = None,
        models: tuple[str, ...] = ("m",),
        brain: BrainSettings | None = None,
        **settings: Any,
    ) -> "World":
        """Start nodes running `scripts` and a gateway that knows them all to be up."""
        for script in scripts:
            self.nodes.append(await self._stack.enter_async_context(ScriptedUpstream(script, models)))
        specs = [NodeSpec(url=node.url, slots=slots) for node in self.nodes]
        await self.start(specs, brain, **settings)
        await self.until(lambda: self.dispatcher.available() == len(specs))
        return self

    async def start(self, specs: list[NodeSpec], brain: BrainSettings | None = None, **settings: Any) -> None:
        policies = PolicyTable(build(self.policy))
        self.dispatcher = Dispatcher(brain or BrainSettings(), policies, (self.metrics,), self.clock.now())
        settings = {"port": 0, "timeouts": QUICK} | settings
        if OVER_TLS:
            settings.setdefault("tls", server_tls("one"))
        self.client_tls = client_tls() if settings.get("tls") else None
        self.gateway = Gateway(GatewaySettings(**settings), self.dispatcher, self.clock)
        await self.gateway.start(specs)
        self._stack.push_async_callback(self._stop)

    async def client(self) -> Client:
        return await self._stack.enter_async_context(Client(self.gateway.port, self.client_tls))

    async def until(self, true: Callable[[], bool], within_s: float = SOON_S) -> None:
        async with asyncio.timeout(within_s):
            while not true():
                await asyncio.sleep(0.002)

    def pass_time(self, seconds: float) -> None:
        """Let the clock, which stands, move on, and whatever is overdue then be ended."""
        assert isinstance(self.clock, ManualClock)
        self.clock.advance_to(self.clock.now() + seconds)
        for watched in tuple(self.gateway._deadlines._watched):
            watched.check(self.clock.now())

    def passes(self, seconds: float) -> bool:
        """That much time passes at each look of `until`."""
        self.pass_time(seconds)
        return True

    async def at_rest(self) -> None:
        """No ticket, lease or request is left."""
        await self.until(lambda: self.dispatcher.at_rest() and self.gateway.driver.open_requests == 0)

    async def _stop(self) -> None:
        stopping = asyncio.ensure_future(self.gateway.stop())
        await asyncio.sleep(0)
        stopping.cancel()
        await asyncio.gather(stopping, return_exceptions=True)
        for _ in range(3):  # turns of the loop, in which what was cut is closed
            await asyncio.sleep(0)


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with AsyncExitStack() as stack:
        yield World(stack)


class Connecting:
    """The running loop, but for how a connection is opened: `connect`, which gets the loop and what it was asked.

    Patched in for asyncio's `get_running_loop`; a patch of the gateway's own classes goes unseen where it is compiled.
    """

    def __init__(self, connect: Callable[..., Awaitable[Any]]) -> None:
        self._loop = asyncio.get_running_loop()
        self._connect = connect

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loop, name)

    async def create_connection(self, *arguments: Any, **named: Any) -> Any:
        return await self._connect(self._loop, *arguments, **named)


Connect = Callable[[Callable[..., Awaitable[Any]]], None]


@pytest.fixture
def connecting(monkeypatch: pytest.MonkeyPatch) -> Connect:
    """Have connections opened by what is handed in, from now on and for the rest of the test."""

    def begin(connect: Callable[..., Awaitable[Any]]) -> None:
        loop = Connecting(connect)
        monkeypatch.setattr(asyncio, "get_running_loop", lambda: loop)

    return begin


Asked = Awaitable[Response]


def chat(**more: Any) -> dict[str, Any]:
    """A small chat body."""
    return {"model": "m", "messages": [{"role": "user", "content": "hi"}], **more}
