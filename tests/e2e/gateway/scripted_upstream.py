"""A node that does exactly what a test tells it, byte by byte, and remembers what it was sent."""

import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True)
class Received:
    """One request as it came off the socket."""

    line: str
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def path(self) -> str:
        return self.line.split(" ")[1]

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)

    def json(self) -> Any:
        return json.loads(self.body)


HANG = b"never"
"""A page that is not answered."""


class Cut(Exception):
    """Raised by a script: close the connection now."""


Script = Callable[[Received, asyncio.StreamWriter], Awaitable[None]]


class ScriptedUpstream:
    """Answers probes by `pages` or by itself, all else by `script`; `left` is set when a client goes mid-request."""

    def __init__(self, script: Script, models: tuple[str, ...] = ("m",), tls: ssl.SSLContext | None = None) -> None:
        self.script = script
        self._tls = tls
        self.models = models
        self.pages: dict[str, bytes] = {}
        self.requests: list[Received] = []
        self.probes: list[Received] = []
        self.connections = 0
        self.left = asyncio.Event()
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def url(self) -> str:
        return f"http{'s' * bool(self._tls)}://127.0.0.1:{self.port}"

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        served = False
        try:
            while (request := await _read(reader)) is not None:
                if request.line.startswith("GET "):
                    self.probes.append(request)
                    page = self._probe(request.path)
                    if page is HANG:
                        await asyncio.sleep(60)
                    writer.write(page)
                    continue
                self.connections += not served
                served = True
                self.requests.append(request)
                await self._run(request, reader, writer)
        except (Cut, ConnectionError):
            writer.transport.abort()
        except asyncio.CancelledError:
            writer.transport.abort()
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _run(self, request: Received, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """The script, ended early when the client goes away."""
        script = asyncio.ensure_future(self.script(request, writer))
        gone = asyncio.ensure_future(_gone(reader))
        try:
            await asyncio.wait((script, gone), return_when=asyncio.FIRST_COMPLETED)
            if not script.done():
                self.left.set()
                raise Cut
            script.result()
        except (ConnectionError, RuntimeError) as error:  # uvloop's word for a closed transport is RuntimeError
            self.left.set()
            raise Cut from error
        finally:
            script.cancel()
            gone.cancel()
            await asyncio.gather(script, gone, return_exceptions=True)

    def _probe(self, path: str) -> bytes:
        if path in self.pages:
            return self.pages[path]
        if path == "/health":
            return respond(b"")
        if path == "/v1/models":
            return respond(json.dumps({"data": [{"id": model} for model in self.models]}).encode())
        return respond(b"{}", 404)


async def _read(reader: asyncio.StreamReader) -> Received | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    line, *lines = head.decode().split("\r\n")[:-2]
    headers = [(name.lower(), value) for name, _, value in (each.partition(": ") for each in lines)]
    length = int(dict(headers).get("content-length", "0"))
    return Received(line, headers, await reader.readexactly(length))


async def _gone(reader: asyncio.StreamReader) -> None:
    """Returns when the peer is gone; the gateway sends nothing while it waits for an answer."""
    while not reader.at_eof():
        if reader.exception() is not None:
            return
        await asyncio.sleep(0.005)


def respond(body: bytes, status: int = 200, content_type: str = "application/json", extra: str = "") -> bytes:
    """A whole response of announced length."""
    head = f"HTTP/1.1 {status} X\r\ncontent-type: {content_type}\r\ncontent-length: {len(body)}\r\n{extra}\r\n"
    return head.encode() + body


def always(response: bytes) -> Script:
    """The same raw response to everything."""

    async def script(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(response)

    return script


STREAM_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def event(delta: dict[str, Any], finish: str | None = None, index: int = 0) -> bytes:
    """A chat chunk as vLLM writes it."""
    choice = {"index": index, "delta": delta, "logprobs": None, "finish_reason": finish}
    return b"data: " + json.dumps({"id": "c", "choices": [choice]}, separators=(",", ":")).encode() + b"\n\n"


ROLE = event({"role": "assistant", "content": ""})
USAGE = b'data: {"id":"c","choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}\n\n'
DONE = b"data: [DONE]\n\n"


def stream(*events: bytes, gap_s: float = 0.0, end: bool = True) -> Script:
    """Events one chunk each; without `end` the connection is cut after the last."""

    async def script(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD)
        for each in events:
            writer.write(chunk(each))
            await writer.drain()
            await asyncio.sleep(gap_s)
        if not end:
            raise Cut
        writer.write(b"0\r\n\r\n")

    return script


def standing(go: asyncio.Event, *events: bytes) -> Script:
    """A stream that stands after its second event until it may go on; then come the others, one chunk each."""

    async def script(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunk(events[0]) + chunk(events[1]))
        await go.wait()
        for each in events[2:]:
            writer.write(chunk(each))
            await writer.drain()
        writer.write(b"0\r\n\r\n")

    return script


async def never(_: Received, writer: asyncio.StreamWriter) -> None:
    """Take the request and say nothing."""
    await asyncio.sleep(60)
