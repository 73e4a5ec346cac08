"""One response on a client's connection, framed as the client can take it."""

import asyncio
from collections.abc import Callable
from math import ceil

from pointsman.brain.model.errors import ClientError, MethodNotAllowed, NodeFailed, PointsmanError
from pointsman.wire.http1.framing import LAST_CHUNK, chunk
from pointsman.wire.http1.heads import own_lines
from pointsman.wire.http1.messages import RequestHead
from pointsman.wire.openai.errors import error_body, is_error


class Reply:
    """Writes one response. The head waits for the first body bytes, so that both leave in one packet; what is written
    after `gather` waits for the end.

    `started` tells that something of the answer was handed to the transport: from then on no other is possible.
    `promised` tells that the head of a stream of events was, and nothing of the answer yet: whatever else is answered
    becomes the one event of that stream.
    """

    __slots__ = (
        "_bare",
        "_browser",
        "_chunked",
        "_gathers",
        "_last_words",
        "_modern",
        "_pending",
        "_transport",
        "keep_alive",
        "promised",
        "started",
    )

    def __init__(self, transport: asyncio.WriteTransport, head: RequestHead) -> None:
        self._transport = transport
        self._modern = head.modern
        self._bare = head.method == b"HEAD"
        self._browser = b"origin" in head.fields
        self._chunked = False
        self._pending = b""
        self._gathers = False
        self._last_words: Callable[[bytes], bytes] | None = None
        self.keep_alive = head.keep_alive
        self.promised = False
        self.started = False

    def promise(self, lines: bytes, last_words: Callable[[bytes], bytes]) -> None:
        """Send the head of a stream of events before there is one. Nothing happens where an answer has begun.

        `last_words` makes the events that end it of an error (JSON), should it be no such stream after all.
        """
        if self.promised or self.started:
            return
        self.start(lines, None)
        self.promised = True
        self._last_words = last_words
        self._transport.write(self._pending)
        self._pending = b""

    def comment(self, text: bytes) -> None:
        """A line that readers of the stream of events pass over. One must have been promised or begun."""
        self.scatter()
        line = b": %b\n\n" % text
        self._transport.write(chunk(line) if self._chunked else line)

    def start(self, lines: bytes, length: int | None, *, bodiless: bool = False) -> None:
        """Begin with status line and headers; `length` None means that only the end will tell.

        `bodiless` is for a status that never has a body (204, 304) and so has no framing either. After a promise it is
        for the promised stream alone, whose head is out.
        """
        if self.promised:
            return
        self._chunked = length is None and self._modern and not bodiless
        if bodiless:
            framing = b""
        elif length is not None:
            framing = b"content-length: %d\r\n" % length
        elif self._chunked:
            framing = b"transfer-encoding: chunked\r\n"
        else:
            framing = b""
            self.keep_alive = False
        self._pending = b"%b%b%b\r\n" % (lines, framing, self._own_lines(lines))

    def write(self, data: bytes) -> None:
        """Send body bytes (not empty)."""
        if self._chunked:
            data = chunk(data)
        if self._pending:
            data = self._pending + data
            self._pending = b""
        self.started = True
        if self._gathers:
            self._pending = data
        else:
            self._transport.write(data)

    def between_chunks(self) -> asyncio.WriteTransport | None:
        """Where whole chunks may be written, framed as they are; None if they are not welcome there now."""
        return self._transport if self._chunked and self.started and not self._pending else None

    def gather(self) -> None:
        """The last bytes are about to be written: they shall leave together with the end."""
        self._gathers = True

    def scatter(self) -> None:
        """They were not the last, after all: what was gathered leaves now."""
        self._gathers = False
        if self.started and self._pending:
            self._transport.write(self._pending)
            self._pending = b""

    def end(self) -> None:
        """The response is complete."""
        last = self._pending + LAST_CHUNK if self._chunked else self._pending
        self._pending = b""
        if last:
            self._transport.write(last)
        self.started = True

    def send(self, lines: bytes, body: bytes, *, bodiless: bool = False) -> None:
        """A whole response at once."""
        if self._last_words is not None:
            self.write(self._last_words(body if _tells_error(body) else _NO_STREAM))
            self.end()
            return
        self.start(lines, len(body), bodiless=bodiless)
        if body and not self._bare:
            self.write(body)
        self.end()

    def refuse(self, error: PointsmanError, request_id: bytes) -> None:
        """An error of ours as the whole response."""
        self.send(error_lines(error, request_id), error_body(error))

    def break_off(self) -> None:
        """End the connection, the only way to say that a response of announced length is cut."""
        self.keep_alive = False
        self._transport.abort()

    def _own_lines(self, lines: bytes) -> bytes:
        own = b""
        if not self.keep_alive:
            own = b"connection: close\r\n"
        elif not self._modern:
            own = b"connection: keep-alive\r\n"
        if self._browser and b"access-control-allow-origin:" not in lines:
            own += b"access-control-allow-origin: *\r\n"
        return own


_NO_STREAM = error_body(NodeFailed("the node answered with something else than a stream"))


def _tells_error(body: bytes) -> bool:
    """Whether it is one JSON object, of an error."""
    return body.startswith(b"{") and is_error(body)


def error_lines(error: PointsmanError, request_id: bytes = b"") -> bytes:
    """Status line and headers of an error of ours."""
    extra = []
    if error.retry_after_s is not None:
        extra.append((b"retry-after", b"%d" % max(1, ceil(error.retry_after_s))))
    if isinstance(error, ClientError) and error.status == 401:
        extra.append((b"www-authenticate", b"Bearer"))
    if isinstance(error, MethodNotAllowed):
        extra.append((b"allow", ", ".join(error.allowed).encode()))
    return own_lines(error.status, b"application/json", request_id, extra)
