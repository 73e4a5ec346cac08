"""A client that keeps everything it was sent, as it came."""

import asyncio
import json
import socket
import struct
from typing import Any

_AT_ONCE = struct.pack("ii", 1, 0)


def amount(body: bytes) -> int:
    """A measure of an answer's progress: events of choices for a stream, else bytes."""
    return body.count(b'"finish_reason"') if body.startswith(b"data: ") else len(body)


class Client:
    """One request on one connection. `raw` grows as bytes come; the properties read it."""

    def __init__(self, port: int, request_id: str) -> None:
        self._port = port
        self.id = request_id
        self.raw = bytearray()
        self.ended = False
        self.left_at: float | None = None

    async def ask(self, body: dict[str, Any], limit_ms: int | None = None) -> None:
        """Send the request; what comes back is collected by `read`."""
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        data = json.dumps(body).encode()
        limit = f"x-request-timeout-ms: {limit_ms}\r\n" if limit_ms else ""
        head = (
            f"POST /v1/chat/completions HTTP/1.1\r\nhost: test\r\nx-request-id: {self.id}\r\nconnection: close\r\n"
            f"{limit}content-length: {len(data)}\r\n\r\n"
        )
        self._writer.write(head.encode() + data)

    async def read(self) -> None:
        """Collect to the end of the connection, in whatever way it ends."""
        try:
            while data := await self._reader.read(65536):
                self.raw += data
        except ConnectionError:
            pass
        self.ended = True
        self._writer.close()

    def leave(self, *, by_reset: bool) -> None:
        """Be gone, by a reset or by a FIN, unless the connection has ended already."""
        if by_reset and not self._writer.is_closing():
            peer = self._writer.get_extra_info("socket")
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        self._writer.transport.abort()
        self.left_at = asyncio.get_running_loop().time()

    def shown(self) -> int:
        """How much of the answer is here, in the measure of `amount`."""
        return amount(self.body)

    @property
    def status(self) -> int:
        """0 as long as there is none."""
        return int(self.raw[9:12]) if len(self.raw) > 12 else 0

    @property
    def body(self) -> bytes:
        """The body so far, without its framing."""
        return self._parted()[0]

    @property
    def complete(self) -> bool:
        """Whether the message ended as it announced, and nothing came after."""
        return self._parted()[1]

    @property
    def events(self) -> list[bytes]:
        """The data of the events so far."""
        return [part.removeprefix(b"data: ") for part in self.body.split(b"\n\n")[:-1]]

    @property
    def documents(self) -> list[dict[str, Any]]:
        """The events that are JSON objects."""
        return [json.loads(event) for event in self.events if event.startswith(b"{")]

    def _parted(self) -> tuple[bytes, bool]:
        head, blank, rest = bytes(self.raw).partition(b"\r\n\r\n")
        if not blank:
            return b"", False
        length = next((int(x[15:]) for x in head.lower().split(b"\r\n") if x.startswith(b"content-length:")), None)
        return (rest, len(rest) == length) if length is not None else _unchunked(rest)


def _unchunked(data: bytes) -> tuple[bytes, bool]:
    body = b""
    while True:
        size, line_end, rest = data.partition(b"\r\n")
        if not line_end:
            return body, False
        length = int(size, 16)
        if length == 0:
            return body, rest == b"\r\n"
        if len(rest) < length + 2:
            return body + rest[:length], False
        body += rest[:length]
        data = rest[length + 2 :]
