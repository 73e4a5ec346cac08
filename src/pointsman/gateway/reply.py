"""One response on a client's connection, framed as the client can take it."""

import asyncio

from pointsman.brain.model.errors import ClientError, MethodNotAllowed, PointsmanError
from pointsman.wire.http1.framing import LAST_CHUNK, chunk
from pointsman.wire.http1.heads import own_lines
from pointsman.wire.http1.messages import RequestHead
from pointsman.wire.openai.errors import error_body


class Reply:
    """Writes one response. The head waits for the first body bytes, so that both leave in one packet; what is written
    after `gather` waits for the end.

    `started` tells that something was handed to the transport: from then on no other answer is possible.
    """

    __slots__ = (
        "_bare",
        "_browser",
        "_chunked",
        "_gathers",
        "_modern",
        "_pending",
        "_transport",
        "keep_alive",
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
        self.keep_alive = head.keep_alive
        self.started = False

    def start(self, lines: bytes, length: int | None, *, bodiless: bool = False) -> None:
        """Begin with status line and headers; `length` None means that only the end will tell.

        `bodiless` is for a status that never has a body (204, 304) and so has no framing either.
        """
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


def error_lines(error: PointsmanError, request_id: bytes = b"") -> bytes:
    """Status line and headers of an error of ours."""
    extra = []
    if error.retry_after_s is not None:
        extra.append((b"retry-after", b"%d" % max(1, round(error.retry_after_s))))
    if isinstance(error, ClientError) and error.status == 401:
        extra.append((b"www-authenticate", b"Bearer"))
    if isinstance(error, MethodNotAllowed):
        extra.append((b"allow", ", ".join(error.allowed).encode()))
    return own_lines(error.status, b"application/json", request_id, extra)
