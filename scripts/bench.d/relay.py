"""CPU time the gateway takes per plain request and per streamed chunk, beside a bare TCP relay.

Everything runs on this machine: two backends that answer at once or stream 50 chunks at 20 ms, the proxy under test in
a process of its own, and raw keep-alive clients here. The figure is the proxy's user and system time over what it
carried. Machines differ and are noisy: compare the rows of one run.
"""

import argparse
import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import uvloop

CHUNKS = 50
GAP_S = 0.02
PLAIN_CLIENTS = 32
STREAM_CLIENTS = 100
WARM_UP_S = 1.0
READY_WITHIN_S = 10.0


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def event(rest: bytes) -> bytes:
    return chunk(b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m",%b}\n\n' % rest)


def response(body: bytes, status: bytes = b"200 OK") -> bytes:
    return b"HTTP/1.1 %b\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (status, len(body), body)


MESSAGE = b'{"index":0,"message":{"role":"assistant","content":"hello there"},"finish_reason":"stop"}'
ANSWER = response(b'{"id":"x","choices":[%b],"usage":{"prompt_tokens":10,"completion_tokens":5}}' % MESSAGE)
STREAM_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
TOKEN = event(b'"choices":[{"index":0,"delta":{"content":" tok"},"logprobs":null,"finish_reason":null}]')
LAST = event(b'"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]') + chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n"
PAGES = {b"/health": response(b"{}"), b"/v1/models": response(b'{"data":[{"id":"m"}]}')}


class Backend(asyncio.Protocol):
    """A node that takes no time to think."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: asyncio.Transport = transport  # type: ignore[assignment]
        self.received = b""
        self.left = 0

    def data_received(self, data: bytes) -> None:
        self.received += data
        head, end, body = self.received.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0] or 0)
        if not end or len(body) < length:
            return
        self.received = b""
        if head.startswith(b"GET "):
            self.transport.write(PAGES.get(head.split(b" ")[1], response(b"", b"404 Not Found")))
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
            asyncio.get_running_loop().call_later(GAP_S, self.stream)


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


@dataclass
class Counts:
    answers: int = 0
    chunks: int = 0
    stopped: bool = field(default=False)


class Client(asyncio.Protocol):
    """Asks again as soon as it has its answer."""

    def __init__(self, request: bytes, counts: Counts) -> None:
        self.request = request
        self.counts = counts

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: asyncio.Transport = transport  # type: ignore[assignment]
        self.transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        self.counts.chunks += data.count(b"data: ")
        if data.endswith((b'"completion_tokens":5}}', b"0\r\n\r\n")):
            self.counts.answers += 1
            if not self.counts.stopped:
                self.transport.write(self.request)


def request(streamed: bool) -> bytes:
    more = b',"stream":true,"stream_options":{"include_usage":true}' if streamed else b""
    body = b'{"model":"m","messages":[{"role":"user","content":"hello there"}],"max_tokens":50%b}' % more
    head = (
        b"POST /v1/chat/completions HTTP/1.1\r\nhost: bench\r\naccept: application/json\r\n"
        b"content-type: application/json\r\nuser-agent: OpenAI/Python\r\nauthorization: Bearer x\r\n"
        b"x-stainless-lang: python\r\nx-stainless-os: Linux\r\ncontent-length: %d\r\n\r\n"
    )
    return head % len(body) + body


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def measure(port: int, pid: int, streamed: bool, seconds: float) -> tuple[float, float, float]:
    """Requests per second, and microseconds of CPU per request and per chunk."""
    counts = Counts()
    loop = asyncio.get_running_loop()
    for _ in range(STREAM_CLIENTS if streamed else PLAIN_CLIENTS):
        await loop.create_connection(lambda: Client(request(streamed), counts), "127.0.0.1", port)
    await asyncio.sleep(WARM_UP_S)
    answers, chunks, cpu = counts.answers, counts.chunks, cpu_seconds(pid)
    await asyncio.sleep(seconds)
    used = (cpu_seconds(pid) - cpu) * 1e6
    counts.stopped = True
    return (
        (counts.answers - answers) / seconds,
        used / max(1, counts.answers - answers),
        used / max(1, counts.chunks - chunks),
    )


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


@contextmanager
def child(*command: object) -> Iterator[int]:
    process = subprocess.Popen([sys.executable, *map(str, command)], stderr=subprocess.DEVNULL)
    try:
        yield process.pid
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


async def ready(port: int) -> None:
    """Wait until the port answers `GET /health` with 200."""
    async with asyncio.timeout(READY_WITHIN_S):
        while True:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(b"GET /health HTTP/1.1\r\nhost: bench\r\n\r\n")
                line = await reader.readline()
                writer.close()
                if b" 200 " in line:
                    return
            except OSError:
                pass
            await asyncio.sleep(0.1)


async def serve_role(role: str, ports: list[int]) -> None:
    loop = asyncio.get_running_loop()
    if role == "backend":
        for port in ports:
            await loop.create_server(Backend, "127.0.0.1", port)
    else:
        await loop.create_server(lambda: Relay(ports[1]), "127.0.0.1", ports[0])
    await asyncio.Event().wait()


async def compare(seconds: float, policies: list[str]) -> None:
    print(f"{'proxy':28} {'requests/s':>10} {'µs/request':>11} {'µs/chunk':>9}")
    with ExitStack() as stack:
        one, two, relay = free_ports(3)
        stack.enter_context(child(__file__, "--role", "backend", one, two))
        await row("TCP relay", relay, seconds, __file__, "--role", "relay", relay, one)
        for policy in policies:
            port, *_ = free_ports(1)
            nodes = f"http://127.0.0.1:{one},http://127.0.0.1:{two}"
            command = ["-m", "pointsman", "serve", "--listen", f"127.0.0.1:{port}", "--admin-listen", ""]
            await row(f"gateway, {policy}", port, seconds, *command, "--node", nodes, "--policy", policy)


async def row(name: str, port: int, seconds: float, *command: object) -> None:
    with child(*command) as pid:
        await ready(port)
        rate, per_request, _ = await measure(port, pid, False, seconds)
        _, _, per_chunk = await measure(port, pid, True, seconds)
        print(f"{name:28} {rate:10.0f} {per_request:11.1f} {per_chunk:9.1f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=5.0, help="of each measurement")
    parser.add_argument("--policies", default="round_robin,fastest_completion", help="comma-separated")
    parser.add_argument("--role", choices=["backend", "relay"], help=argparse.SUPPRESS)
    parser.add_argument("ports", type=int, nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    work = serve_role(options.role, options.ports) if options.role else None
    uvloop.run(work or compare(options.seconds, options.policies.split(",")))


if __name__ == "__main__":
    main()
