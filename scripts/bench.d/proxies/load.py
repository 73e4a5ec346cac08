"""Raw keep-alive clients: plain requests at a set rate, streams at a set concurrency, one request at a time.

Plain requests arrive whether or not earlier ones were answered (Poisson, in steps of 1 ms), so that a slow proxy is not
asked less. Streams are paced by the backend and started spread over the warm-up, so that their chunks do not come in
step. Whatever is not a whole 200 is an error, and an error makes a measurement void: refusing is cheap.
"""

import asyncio
import socket
from collections import Counter, deque
from contextlib import suppress
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter

import httptools
import numpy as np

CONNECTIONS = 32
STREAMS = 100
STEP_S = 0.001
TIMEOUT_S = 10.0
SYSTEM = ("You are a careful assistant. Answer in one sentence, and say so if you do not know. " * 12)[:768]


class Failed(Exception):
    """A proxy answered with something else than a whole 200, or not at all."""


def request(client: int, streamed: bool) -> bytes:
    """A chat of 1 KiB: a system prompt that all share, and 256 bytes of the client's own."""
    own = f"Client {client} asks: " + "what is the capital of the country? " * 8
    more = ',"stream":true,"stream_options":{"include_usage":true}' if streamed else ""
    messages = f'[{{"role":"system","content":"{SYSTEM}"}},{{"role":"user","content":"{own[:256]}"}}]'
    body = f'{{"model":"m","messages":{messages},"max_tokens":50{more}}}'.encode()
    head = (
        b"POST /v1/chat/completions HTTP/1.1\r\nhost: bench\r\naccept: application/json\r\n"
        b"content-type: application/json\r\nuser-agent: OpenAI/Python\r\nauthorization: Bearer x\r\n"
        b"x-stainless-lang: python\r\nx-stainless-os: Linux\r\ncontent-length: %d\r\n\r\n"
    )
    return head % len(body) + body


@dataclass(slots=True)
class Load:
    """What its clients share. `due` requests wait for an idle client; infinity makes everyone ask again at once."""

    due: float = 0.0
    answers: int = 0
    chunks: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    """By what went wrong."""
    idle: deque["Client"] = field(default_factory=deque)
    """The longest idle first, so that none is idle long enough to be closed."""

    def carried(self, streamed: bool) -> int:
        return self.chunks if streamed else self.answers

    def ask(self, more: float) -> None:
        self.due += more
        while self.due >= 1 and self.idle:
            self.due -= 1
            self.idle.popleft().ask()


class Client(asyncio.Protocol):
    """One connection, with one request at a time."""

    def __init__(self, load: Load, request: bytes) -> None:
        self.load = load
        self.request = request
        self.parser = httptools.HttpResponseParser(self)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: asyncio.Transport = transport  # type: ignore[assignment]
        self.load.idle.append(self)

    def ask(self) -> None:
        self.transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        self.parser.feed_data(data)

    def on_body(self, body: bytes) -> None:
        self.load.chunks += body.count(b"data: ")

    def on_message_complete(self) -> None:
        self.load.answers += 1
        if (status := self.parser.get_status_code()) != 200:
            self.load.errors[f"status {status}"] += 1
        self.parser = httptools.HttpResponseParser(self)
        self.load.idle.append(self)
        self.load.ask(0)

    def connection_lost(self, _: Exception | None) -> None:
        self.load.errors["connection closed"] += 1
        with suppress(ValueError):
            self.load.idle.remove(self)


async def connect(load: Load, port: int, count: int, streamed: bool) -> list[Client]:
    """`count` idle clients of `load`."""
    return [await connected(load, port, request(number, streamed)) for number in range(count)]


async def connected(load: Load, port: int, data: bytes) -> Client:
    _, client = await asyncio.get_running_loop().create_connection(lambda: Client(load, data), "127.0.0.1", port)
    return client


async def arrive(load: Load, per_second: float) -> None:
    """Raise what is due until cancelled; a rate of zero stands for: as fast as answered."""
    if not per_second:
        return load.ask(float("inf"))
    draw = np.random.default_rng(1)
    at = perf_counter()
    while True:
        await asyncio.sleep(STEP_S)
        before, at = at, perf_counter()
        load.ask(int(draw.poisson(per_second * (at - before))))


async def start_streams(load: Load, over_s: float) -> None:
    """Start one stream after the other, each going on for ever."""
    count = len(load.idle)
    for _ in range(count):
        load.ask(1)
        await asyncio.sleep(over_s / count)
    load.ask(float("inf"))


def latency_ms(port: int, seconds: float) -> float:
    """The median time of a plain request at concurrency 1, over a blocking socket."""
    times: list[float] = []
    with socket.create_connection(("127.0.0.1", port), TIMEOUT_S) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        end = perf_counter() + seconds
        while not times or perf_counter() < end:
            began = perf_counter()
            exchange(connection, request(0, streamed=False))
            times.append(perf_counter() - began)
    return median(times[len(times) // 10 :]) * 1e3


def exchange(connection: socket.socket, data: bytes) -> None:
    """Send a request and read its whole answer. Raises Failed unless that is a 200."""
    connection.sendall(data)
    answer = Answer()
    parser = httptools.HttpResponseParser(answer)
    while not answer.complete:
        received = connection.recv(65536)
        if not received:
            raise Failed("closed the connection")
        parser.feed_data(received)
    if parser.get_status_code() != 200:
        raise Failed(f"answered {parser.get_status_code()}")


class Answer:
    """Waits for the end of an answer."""

    complete = False

    def on_message_complete(self) -> None:
        self.complete = True
