"""The two ends of the scale, each a process: the backend every proxy relays to, and a TCP relay that reads nothing.

`servers.py backend PORT...` answers on every port; `servers.py relay PORT BACKEND_PORT` relays. The backend does not
parse: it looks for what it needs and writes answers made beforehand. What it takes is part of every result: at the
rates of the comparison a few percent of a core, so that it holds nothing up.
"""

import asyncio
import json
import sys
from functools import lru_cache

import uvloop

CHUNKS = 50
GAP_S = 0.02


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def event(rest: bytes) -> bytes:
    return chunk(b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m",%b}\n\n' % rest)


def response(body: bytes, status: bytes = b"200 OK") -> bytes:
    return b"HTTP/1.1 %b\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (status, len(body), body)


USAGE = b'"usage":{"prompt_tokens":260,"completion_tokens":50,"total_tokens":310}'
MESSAGE = b'{"index":0,"message":{"role":"assistant","content":"hello there"},"finish_reason":"stop"}'
ANSWER = response(
    b'{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m","choices":[%b],%b}' % (MESSAGE, USAGE)
)
STREAM_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
TOKEN = event(b'"choices":[{"index":0,"delta":{"content":" tok"},"logprobs":null,"finish_reason":null}]')
LAST = (
    event(b'"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]')
    + event(b'"choices":[],%b' % USAGE)
    + chunk(b"data: [DONE]\n\n")
    + b"0\r\n\r\n"
)
PAGES = {
    b"/health": response(b"{}"),
    b"/v1/models": response(b'{"object":"list","data":[{"id":"m","object":"model"}]}'),
}
NOT_FOUND = response(b"{}", b"404 Not Found")


@lru_cache(maxsize=1024)
def tokenized(body: bytes) -> bytes:
    """The answer to POST /tokenize, which cache-aware peers ask: four bytes a token, equal text giving equal tokens."""
    ids = [int.from_bytes(body[at : at + 4], "little") % 50_000 for at in range(0, len(body), 4)]
    return response(json.dumps({"count": len(ids), "max_model_len": 32768, "tokens": ids}).encode())


class Backend(asyncio.Protocol):
    """A node that takes no time to think: answers at once, or streams a chunk every 20 ms."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: asyncio.Transport = transport  # type: ignore[assignment]
        self.loop = asyncio.get_running_loop()
        self.received = b""
        self.left = 0

    def data_received(self, data: bytes) -> None:
        self.received += data
        head, end, body = self.received.partition(b"\r\n\r\n")
        if end and len(body) >= body_length(head):
            self.received = b""
            self.answer(head, body)

    def answer(self, head: bytes, body: bytes) -> None:
        if head.startswith(b"GET "):
            self.transport.write(PAGES.get(head.split(b" ", 2)[1], NOT_FOUND))
        elif head.startswith(b"POST /tokenize "):
            self.transport.write(tokenized(body))
        elif b'"stream":true' in body:
            self.left = CHUNKS
            self.transport.write(STREAM_HEAD)
            self.stream()
        else:
            self.transport.write(ANSWER)

    def stream(self) -> None:
        if self.transport.is_closing():
            return
        self.transport.write(TOKEN if self.left else LAST)
        if self.left:
            self.left -= 1
            self.loop.call_later(GAP_S, self.stream)


def body_length(head: bytes) -> int:
    _, name, rest = head.lower().partition(b"\r\ncontent-length:")
    return int(rest.partition(b"\r\n")[0]) if name else 0


class Relay(asyncio.Protocol):
    """The floor: bytes to one backend and back, nothing read."""

    def __init__(self, backend_port: int) -> None:
        self.backend_port = backend_port
        self.early = b""
        self.out: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: asyncio.Transport = transport  # type: ignore[assignment]
        self.task = asyncio.ensure_future(self.connect())

    async def connect(self) -> None:
        loop = asyncio.get_running_loop()
        self.out, _ = await loop.create_connection(lambda: Back(self.transport), "127.0.0.1", self.backend_port)
        self.out.write(self.early)

    def data_received(self, data: bytes) -> None:
        if self.out is None:
            self.early += data
        else:
            self.out.write(data)

    def connection_lost(self, _: Exception | None) -> None:
        if self.out is not None:
            self.out.abort()


class Back(asyncio.Protocol):
    """The relay's side towards the backend."""

    def __init__(self, front: asyncio.Transport) -> None:
        self.front = front

    def data_received(self, data: bytes) -> None:
        if not self.front.is_closing():
            self.front.write(data)


async def serve(role: str, ports: list[int]) -> None:
    loop = asyncio.get_running_loop()
    if role == "backend":
        for port in ports:
            await loop.create_server(Backend, "127.0.0.1", port)
    else:
        await loop.create_server(lambda: Relay(ports[1]), "127.0.0.1", ports[0])
    await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(serve(sys.argv[1], list(map(int, sys.argv[2:]))))
