"""Connections to nodes: kept alive, reused last-in-first-out, closed before the engine closes them.

An engine under uvicorn drops an idle connection after 5 s. A request sent just then meets a reset, so our idle limit
is half of that, and what still happens is told to the sink as `stale`: no byte came back, a fresh connection may try.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from typing import Final, cast

from pointsman.clock import Clock
from pointsman.gateway.origin import Origin
from pointsman.gateway.settings import Limits, Timeouts
from pointsman.wire.http1.messages import ResponseHead
from pointsman.wire.http1.response import Garbage, ResponseReader
from pointsman.wire.openai.likeness import Likeness

SEE_OUT_S = 0.5
"""How long a node may take to end the body of a stream that has said `[DONE]`."""
_LONGEST_PROBE_S = 32767.0
_LONGEST_SILENCE_MS = 2.0**31 - 1.0
"""Linux takes no larger TCP_KEEPIDLE, TCP_KEEPINTVL and TCP_USER_TIMEOUT; 0 milliseconds would mean its own choice."""
_JOINED_BYTES: Final = 64 * 1024
"""Up to this size copying a body behind its head is cheaper than a vectored write."""

_PASSED_AT_ONCE: Final = 16
"""Reads that take the shortcut before the sink is told."""

Shortcut = tuple[asyncio.WriteTransport, Likeness]
"""Where a read may go as it is, and what tells which ones may."""


class UpstreamSink:
    """Who waits for a response. After `on_complete` or `on_lost` nothing more comes. This one lets everything go."""

    __slots__ = ()

    def on_response_head(self, head: ResponseHead, length: int | None) -> None: ...

    def on_response_body(self, data: bytes, *, last: bool) -> None:
        """Bytes of the body; `last` tells that `on_complete` follows at once."""

    def shortcut(self) -> Shortcut | None:
        """The way for reads that are one whole chunk; asked between two chunks, whenever a read did not take it."""
        return None

    def on_passed(self, count: int) -> None:
        """So many reads took the shortcut: told some at a time, and before whatever else comes."""

    def on_complete(self) -> None: ...

    def on_lost(self, reason: str, *, stale: bool) -> None: ...


NO_SOCKET = "no_socket"
"""The reason why a connection failed that says nothing about the node: this machine has no descriptor or port left."""
_OUR_OWN_LACK = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.EADDRNOTAVAIL)
_NO_TLS = ("WRONG_VERSION_NUMBER", "UNKNOWN_PROTOCOL", "RECORD_LAYER_FAILURE")
"""What different versions of OpenSSL call an answer that is no TLS at all (urllib3 looks for the same three)."""


class ConnectFailed(Exception):
    """No connection to the node. `reason` is one word, the text has more where there is more to say."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason


class UpstreamConnection(asyncio.Protocol):
    """One connection to a node, serving one request at a time. `heard` turns true with whatever the node sends.

    Of a hundred streams each brings a chunk now and then, and finds everything that is its own cold: every object that
    is looked at costs more than the checks on the bytes, which were just read. So a read that may take the shortcut is
    passed on by what stands here, and its account is settled for several at once.
    """

    __slots__ = (
        "_answered",
        "_likeness",
        "_onward",
        "_passed",
        "_paused",
        "_pool",
        "_reader",
        "_silent",
        "_sink",
        "_transport",
        "heard",
        "idle_since",
    )

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._reader = ResponseReader(self)
        self._sink: UpstreamSink | None = None
        self._answered = 0
        self._paused = False
        self._silent = True
        self._onward: asyncio.WriteTransport | None = None
        self._likeness: Likeness | None = None
        self._passed = 0
        self.heard = False
        self.idle_since = 0.0

    def send(self, sink: UpstreamSink, head: bytes, body: bytes) -> None:
        """Send a request; its response goes to `sink`."""
        self._answer_to(sink)
        self._silent = True
        self.heard = False
        if len(body) <= _JOINED_BYTES:
            self._transport.write(head + body)
        else:
            self._transport.writelines((head, body))

    def pause(self) -> None:
        """Take nothing more from the node until `resume`."""
        if not self._paused and self.usable:
            self._paused = True
            self._transport.pause_reading()

    def resume(self) -> None:
        if self._paused and self.usable:
            self._paused = False
            self._transport.resume_reading()

    def see_out(self) -> None:
        """Nobody listens any more: the node has SEE_OUT_S to end its response, and the connection can be used again."""
        nobody = UpstreamSink()
        self._answer_to(nobody)
        self.resume()
        asyncio.get_running_loop().call_later(SEE_OUT_S, self._cut_off, nobody)

    def close(self) -> None:
        """Close at once; the sink hears nothing more."""
        self._answer_to(None)
        self._transport.abort()

    @property
    def usable(self) -> bool:
        return not self._transport.is_closing()

    # asyncio's callbacks

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport = cast(asyncio.Transport, transport)  # uvloop's has the methods, not the base class
        self._transport = transport
        _notice_silence(transport.get_extra_info("socket"), self._pool.node_gone_s)

    def data_received(self, data: bytes) -> None:
        self.heard = True
        onward, likeness = self._onward, self._likeness
        if onward is None or likeness is None or not likeness.passes(data):
            self._read(data)
            return
        onward.write(data)
        self._passed += 1
        if self._passed == _PASSED_AT_ONCE:
            self.tell_passed()

    def _read(self, data: bytes) -> None:
        """Take a read that has to be looked into."""
        sink = self._sink
        if sink is None:
            self._transport.abort()  # bytes nobody asked for: the connection cannot be trusted
            return
        self._silent = False
        self.tell_passed()
        try:
            body = self._reader.feed(data)
        except Garbage as garbage:
            self._end_in_garbage(sink, garbage.body)
            return
        complete = self._reader.complete
        if body:
            sink.on_response_body(body, last=complete)
        if complete and self._sink is not None:
            self._complete(sink)
        else:
            self._find_shortcut()

    def _find_shortcut(self) -> None:
        shortcut = self._sink.shortcut() if self._sink is not None and self._reader.between_chunks else None
        self._onward, self._likeness = shortcut or (None, None)

    def tell_passed(self) -> None:
        """Tell the sink now of reads that took the shortcut and have not been told."""
        passed, self._passed = self._passed, 0
        if passed and self._sink is not None:
            self._sink.on_passed(passed)

    def _answer_to(self, sink: UpstreamSink | None) -> None:
        """From now on it is this one who waits for the response, and nothing passes it by."""
        self._sink = sink
        self._onward = None
        self._passed = 0

    def on_response_head(self, head: ResponseHead, length: int | None) -> None:
        if self._sink is not None:
            self._sink.on_response_head(head, length)

    def connection_lost(self, error: Exception | None) -> None:
        sink = self._sink
        self._pool.forget(self)
        if sink is not None and error is None and self._reader.ends_with_connection():
            self._answer_to(None)
            sink.on_complete()
        elif sink is not None:
            self._lose("reset" if error else "eof")
        self._reader.close()

    def _end_in_garbage(self, sink: UpstreamSink, body: bytes) -> None:
        """A response that is complete counts, whatever follows it; of one that is not, nothing in this read does."""
        if not self._reader.complete:
            self._lose("garbage")
            return
        if body:
            sink.on_response_body(body, last=True)
        if self._sink is not None:
            self._complete(sink)

    def _cut_off(self, nobody: UpstreamSink) -> None:
        if self._sink is nobody:
            self.close()

    def _complete(self, sink: UpstreamSink) -> None:
        self._answer_to(None)
        self._answered += 1
        if self._reader.reusable and self.usable:
            if self._paused:
                self.resume()
            self._reader.expect_response()
            self._pool.give_back(self)
        else:
            self._transport.close()
        sink.on_complete()

    def _lose(self, reason: str) -> None:
        sink = self._sink
        self._answer_to(None)
        self._transport.abort()
        if sink is not None:
            sink.on_lost(reason, stale=self._silent and self._answered > 0)


class Pool:
    """The connections to one origin. `heard_at` is when the last bytes of a request's answer came, a sweep late."""

    __slots__ = ("_idle", "_limits", "_now", "_timeouts", "_tls", "heard_at", "origin")

    def __init__(
        self, origin: Origin, clock: Clock, timeouts: Timeouts, limits: Limits, tls: ssl.SSLContext | None
    ) -> None:
        self.origin = origin
        self._now = clock.now
        self.heard_at = float("-inf")
        self._idle: list[UpstreamConnection] = []
        self.configure(timeouts, limits, tls)

    @property
    def node_gone_s(self) -> float:
        """After how many seconds without any acknowledgement a fresh connection will count as lost."""
        return self._timeouts.node_gone_s

    def configure(self, timeouts: Timeouts, limits: Limits, tls: ssl.SSLContext | None) -> None:
        """Open and keep connections by these from now on; `tls` is None for a plain origin."""
        self._timeouts = timeouts
        self._limits = limits
        self._tls = tls

    def take(self) -> UpstreamConnection | None:
        """The connection used last, if one is still fresh."""
        idle = self._idle
        oldest = self._now() - self._timeouts.node_idle_s
        while idle:
            connection = idle.pop()
            if connection.idle_since >= oldest and connection.usable:
                return connection
            connection.close()
        return None

    async def connect(self) -> UpstreamConnection:
        """A fresh connection, usable when this returns. Raises ConnectFailed."""
        loop = asyncio.get_running_loop()
        origin = self.origin
        try:
            async with asyncio.timeout(self._timeouts.connect_s):
                _, connection = await loop.create_connection(
                    lambda: UpstreamConnection(self), origin.host, origin.port, ssl=self._tls
                )
        except TimeoutError:
            raise ConnectFailed("connect_timeout") from None
        except ConnectionRefusedError:
            raise ConnectFailed("refused") from None
        except ssl.SSLError as error:
            raise ConnectFailed("tls", _tls_trouble(error)) from None
        except OSError as error:
            raise _unreachable(error, origin.host) from None
        if not connection.usable:  # lost, or spoilt by words nobody asked for, before anyone was there to be told
            raise ConnectFailed("reset")
        return connection

    def give_back(self, connection: UpstreamConnection) -> None:
        if len(self._idle) >= self._limits.idle_connections:
            connection.close()
            return
        connection.idle_since = self._now()
        self._idle.append(connection)

    def forget(self, connection: UpstreamConnection) -> None:
        if connection in self._idle:
            self._idle.remove(connection)

    def check(self, now: float) -> None:
        """Close what has been idle too long; the oldest lie in front."""
        oldest = now - self._timeouts.node_idle_s
        while self._idle and self._idle[0].idle_since < oldest:
            self._idle.pop(0).close()

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()


def _unreachable(error: OSError, host: str) -> ConnectFailed:
    """Why no connection came about; looking up a name, for want of a descriptor, fails in ways of its own."""
    if error.errno in _OUR_OWN_LACK or _lacks_sockets():
        return ConnectFailed(NO_SOCKET)
    if isinstance(error, socket.gaierror):
        return ConnectFailed("resolve", f"{host}: {error.strerror}")
    return ConnectFailed("connect")


def _lacks_sockets() -> bool:
    """Whether this process can open none at the moment."""
    try:
        socket.socket().close()
    except OSError as error:
        return error.errno in _OUR_OWN_LACK
    return False


def _tls_trouble(error: ssl.SSLError) -> str:
    if error.reason in _NO_TLS:
        return f"{error.reason}: it seems to speak plain HTTP; then its address begins with http://"
    return getattr(error, "verify_message", "") or error.reason


def _notice_silence(sock: socket.socket, gone_s: float) -> None:
    """Have the system give up a peer that acknowledges neither bytes nor, when nothing is said, its probes.

    The system counts probes in whole seconds and has a most of each; what it does not have is left out.
    """
    if sock.family not in (socket.AF_INET, socket.AF_INET6):
        return
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    options = {
        "TCP_KEEPIDLE": int(min(max(1.0, gone_s / 2), _LONGEST_PROBE_S)),
        "TCP_KEEPINTVL": int(min(max(1.0, gone_s / 6), _LONGEST_PROBE_S)),
        "TCP_KEEPCNT": 3,
        "TCP_USER_TIMEOUT": int(min(max(1.0, gone_s * 1000.0), _LONGEST_SILENCE_MS)),
    }
    for option, value in options.items():
        if hasattr(socket, option):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
