"""One end of the Unix socket between the supervisor and a worker."""

import asyncio
import logging
import socket
from collections.abc import Callable
from typing import Any, cast

import msgspec

from pointsman.workers.messages import ToSupervisor, ToWorker, Unpacker, packed

BACKLOG_BYTES = 4 * 1024 * 1024
"""An end that leaves more than this unread is not sent what can wait."""

_log = logging.getLogger("pointsman")


class Link(asyncio.Protocol):
    """`receive` is called with each message, `closed` once when the other end is gone."""

    def __init__(self, kind: Any, receive: Callable[[Any], None], closed: Callable[[], None]) -> None:
        self._unpacker = Unpacker(kind)
        self._receive = receive
        self._closed = closed
        self._transport: asyncio.Transport | None = None

    @property
    def behind(self) -> bool:
        """Whether the other end does not keep up with what it is sent."""
        return self._transport is not None and self._transport.get_write_buffer_size() > BACKLOG_BYTES

    def send(self, message: ToWorker | ToSupervisor) -> None:
        """Nothing is sent to an end that is gone."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(packed(message))

    def close(self) -> None:
        """After what was sent has left."""
        if self._transport is not None:
            self._transport.close()

    # asyncio's callbacks

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        try:
            for message in self._unpacker.feed(data):
                self._receive(message)
        except msgspec.DecodeError as error:
            _log.error("what came from the other process is no message: %s", error)
            self.close()

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._closed()


async def linked(end: socket.socket, link: Link) -> Link:
    """The link over its end of the socket pair."""
    await asyncio.get_running_loop().create_unix_connection(lambda: link, sock=end)
    return link
