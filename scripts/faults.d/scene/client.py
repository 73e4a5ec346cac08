"""A raw client: one HTTP/1.1 connection that keeps a log of what comes back and when, and can be cut at any moment.

It knows nothing of the gateway's own parsers: httptools frames the response, and events are cut at blank lines.
"""

import asyncio
import socket
import struct
from dataclasses import dataclass, field
from typing import Literal, cast

import httptools
import msgspec

from scene.asks import Ask

Cut = Literal["rst", "fin"]
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class _Delta(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    delta: _Delta | None = None
    message: _Delta | None = None
    finish_reason: str | None = None


class _Body(msgspec.Struct):
    choices: list[_Choice] = []
    error: msgspec.Raw = msgspec.Raw(b"")


_decode = msgspec.json.Decoder(_Body).decode


@dataclass(slots=True)
class Answer:
    """What came back of one request. Moments are seconds of the event loop's clock.

    `moments` has one for each event with content. `complete`: the response ended as HTTP wants it.
    """

    ask: Ask
    sent_at: float
    status: int = 0
    head_at: float = 0.0
    ended_at: float = 0.0
    moments: list[float] = field(default_factory=list)
    text: str = ""
    errors: int = 0
    dones: int = 0
    finish: str = ""
    complete: bool = False
    was_cut: bool = False
    body: bytes = b""
    strange: str = ""

    @property
    def begun(self) -> bool:
        """Whether the client has seen any part of an answer's content."""
        return bool(self.moments)

    @property
    def verdict(self) -> str:
        """How it ended, in a word or two; `ok` and `error event` are the two honest ends of a stream."""
        if self.strange:
            return f"strange: {self.strange}"
        if self.was_cut:
            return "left"
        if not self.complete:
            return "cut off" if self.status else "no answer"
        if self.status != 200:
            return f"status {self.status}"
        if not self.ask.stream:
            return "ok" if self.text == self.ask.text and self.finish else "wrong answer"
        return self._verdict_on_stream()

    def _verdict_on_stream(self) -> str:
        if self.dones != 1:
            return f"{self.dones} times [DONE]"
        if self.errors:
            honest = self.errors == 1 and not self.finish and self.ask.text.startswith(self.text)
            return "error event" if honest else "wrong end"
        if not self.finish:
            return "no finish reason"
        return "ok" if self.text == self.ask.text else "wrong text"


class Connection(asyncio.Protocol):
    """One connection, one request at a time: `ask`, then perhaps `cut`."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpResponseParser(self)
        self._answer: Answer | None = None
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._rest = b""
        self._pieces: list[bytes] = []
        self.chunks = 0
        """Events with content since the connection was made."""
        self.open = False

    @classmethod
    async def to(cls, port: int) -> "Connection":
        """Raises OSError."""
        _, connection = await asyncio.get_running_loop().create_connection(cls, "127.0.0.1", port)
        return connection

    async def ask(self, ask: Ask, *lines: str) -> Answer:
        """Send, and wait for the end of the answer, whatever it is."""
        answer = self.send(ask, *lines)
        await self.ended()
        return answer

    def send(self, ask: Ask, *lines: str) -> Answer:
        """Send; the answer fills as it comes."""
        self._answer = answer = Answer(ask, self._loop.time())
        self._ended = self._loop.create_future()
        self._rest, self._pieces = b"", []
        self._transport.write(ask.head(*lines) + ask.body)
        return answer

    async def ended(self) -> None:
        """Wait until the answer under way has ended."""
        await self._ended

    def cut(self, how: Cut) -> None:
        """Leave: by a reset, or by closing our side."""
        if self._answer is not None:
            self._answer.was_cut = True
        if how == "fin":
            self._transport.write_eof()
            return
        sock = cast(socket.socket, self._transport.get_extra_info("socket"))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        self._transport.abort()

    def close(self) -> None:
        self._transport.close()

    # asyncio's callbacks

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self.open = True

    def data_received(self, data: bytes) -> None:
        if self._answer is None:
            self.open = False
            self._transport.abort()
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._answer.strange = f"not HTTP: {error}"
            self._transport.abort()

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self.open = False
        self._end()

    # httptools's callbacks

    def on_headers_complete(self) -> None:
        assert self._answer is not None
        self._answer.status = self._parser.get_status_code()
        self._answer.head_at = self._loop.time()

    def on_body(self, data: bytes) -> None:
        answer = self._answer
        assert answer is not None
        if answer.status != 200 or not answer.ask.stream:
            self._pieces.append(data)
            return
        *events, self._rest = (self._rest + data).split(b"\n\n")
        for event in events:
            self._take(answer, event)

    def on_message_complete(self) -> None:
        answer = self._answer
        assert answer is not None
        answer.complete = True
        answer.body = b"".join(self._pieces)
        if answer.status == 200 and not answer.ask.stream:
            self._take_whole(answer)
        elif self._rest:
            answer.strange = "a torn event"
        if not self._parser.should_keep_alive():
            self.open = False
            self._transport.close()
        self._parser = httptools.HttpResponseParser(self)
        self._end()

    def _take(self, answer: Answer, event: bytes) -> None:
        if answer.dones:
            answer.strange = "an event after [DONE]"
        if event == b"data: [DONE]":
            answer.dones += 1
            return
        try:
            body = _decode(event.removeprefix(b"data: "))
        except msgspec.DecodeError:
            answer.strange = f"an event that is none: {event[:80]!r}"
            return
        if body.error:
            answer.errors += 1
        for choice in body.choices:
            if choice.delta is not None and choice.delta.content:
                answer.text += choice.delta.content
                answer.moments.append(self._loop.time())
                self.chunks += 1
            answer.finish = choice.finish_reason or answer.finish

    def _take_whole(self, answer: Answer) -> None:
        try:
            choice = _decode(answer.body).choices[0]
        except (msgspec.DecodeError, IndexError):
            answer.strange = f"a body that is none: {answer.body[:80]!r}"
            return
        answer.text = (choice.message and choice.message.content) or ""
        answer.finish = choice.finish_reason or ""
        answer.moments.append(self._loop.time())

    def _end(self) -> None:
        answer, self._answer = self._answer, None
        if answer is not None:
            answer.ended_at = self._loop.time()
        if not self._ended.done():
            self._ended.set_result(None)
