"""The clients' side of the data port: one protocol object per connection.

A connection serves one request at a time; pipelined ones wait their turn in `_waiting`, and also when the client does
not take its answers. It keeps reading meanwhile, because only a read shows that the client has left, and pauses when
too much has piled up. What to do with a request is the front's business (`front.py`); what is being answered is an
`Answering`, told when the client leaves or stalls.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import Final, Protocol, cast

from pointsman.brain.model.errors import PointsmanError
from pointsman.clock import Clock
from pointsman.gateway.deadlines import Deadlines
from pointsman.gateway.hangup import hung_up
from pointsman.gateway.reply import Reply, error_lines
from pointsman.gateway.settings import Limits, Timeouts
from pointsman.gateway.trusted_peers import TrustedPeers
from pointsman.wire.http1.framing import CONTINUE
from pointsman.wire.http1.messages import HttpLimits, RequestHead
from pointsman.wire.http1.request import RequestReader
from pointsman.wire.openai.errors import error_body

_SMALL_BODY: Final = 64 * 1024
_WAITING_LIMIT: Final = 16
_LINGER_S = 2.0

_log = logging.getLogger(__name__)


class Answering(Protocol):
    """A request whose answer takes time."""

    def client_left(self) -> None: ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...


class Front(Protocol):
    """Decides about requests."""

    def objection(self, head: RequestHead) -> PointsmanError | None:
        """Why a request is refused on its head alone, before its body is read."""
        ...

    def request_id(self, head: RequestHead) -> bytes:
        """The id a request goes by."""
        ...

    def serve(self, head: RequestHead, body: bytes, reply: Reply, connection: ClientConnection) -> Answering | None:
        """Answer at once (None), or later and then call `connection.request_done()`."""
        ...


class Received:
    """A whole request that waits, the front its head met, and why that refused it if the head was reason enough."""

    __slots__ = ("body", "front", "head", "objection")

    def __init__(self, front: Front, head: RequestHead, body: bytes, objection: PointsmanError | None) -> None:
        self.front = front
        self.head = head
        self.body = body
        self.objection = objection


class Server:
    """What all connections of one port share.

    `stopping` closes a connection after its answer, told or not; `retiring` once an answer has told its client so.
    """

    def __init__(
        self,
        front: Front,
        deadlines: Deadlines,
        clock: Clock,
        timeouts: Timeouts,
        limits: Limits,
        peers: TrustedPeers | None = None,
    ) -> None:
        self.deadlines = deadlines
        self.clock = clock
        self.configure(front, timeouts, limits, peers or TrustedPeers())
        self.connections: set[ClientConnection] = set()
        self.stopping = False
        self.retiring = False

    def configure(self, front: Front, timeouts: Timeouts, limits: Limits, peers: TrustedPeers) -> None:
        """Serve the requests that begin from now on so; connections there are keep their sizes and peers."""
        self.front = front
        self.timeouts = timeouts
        self.limits = limits
        self.peers = peers
        self.http_limits = HttpLimits(limits.head_bytes, limits.headers, limits.body_bytes)

    def connection(self) -> ClientConnection:
        return ClientConnection(self)

    def stop_keeping_alive(self) -> None:
        """Close idle connections now and every other one after its answer."""
        self.stopping = True
        for connection in tuple(self.connections):
            connection.close_if_idle()

    def abort(self) -> None:
        """Cut every connection."""
        for connection in tuple(self.connections):
            connection.abort()


class ClientConnection(asyncio.Protocol):
    """One client connection."""

    __slots__ = (
        "_answering",
        "_busy",
        "_closing",
        "_continue_due",
        "_deadline",
        "_front",
        "_held",
        "_in_head",
        "_met",
        "_objection",
        "_reader",
        "_reply",
        "_server",
        "_stalled_at",
        "_transport",
        "_waiting",
    )

    def __init__(self, server: Server) -> None:
        self._server = server
        self._front = server.front
        self._reader = RequestReader(self, server.http_limits)
        self._waiting: deque[Received | PointsmanError] = deque()
        self._answering: Answering | None = None
        self._busy = False
        self._closing = False
        self._continue_due = False
        self._held = False
        self._in_head = False
        self._met: RequestHead | None = None
        self._objection: PointsmanError | None = None
        self._stalled_at = -1

    # asyncio's callbacks

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport = cast(asyncio.Transport, transport)  # uvloop's has the methods, not the base class
        self._transport = transport
        transport.set_write_buffer_limits(high=self._server.limits.stream_buffer_bytes)
        if self._server.peers:
            name = transport.get_extra_info("peername")
            if isinstance(name, tuple):
                self._reader.peer = self._server.peers.at(
                    name[0], tls=transport.get_extra_info("sslcontext") is not None
                )
        self._expect_within(self._server.timeouts.client_head_s)
        self._server.connections.add(self)
        self._server.deadlines.watch(self)

    def data_received(self, data: bytes) -> None:
        if self._closing:
            return  # lingering: what still comes is thrown away
        try:
            self._reader.feed(data)
        except PointsmanError as error:
            if not self._closing:
                self._closing = True
                self._waiting.append(error)
                self._serve_waiting()
        if not self._busy:
            self._await_rest()

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._server.connections.discard(self)
        self._server.deadlines.forget(self)
        self._waiting.clear()
        self._closing = True
        self._reader.close()
        answering, self._answering = self._answering, None
        if answering is not None:
            answering.client_left()

    def pause_writing(self) -> None:
        self._stalled_at = self._transport.get_write_buffer_size()
        self._expect_within(self._server.timeouts.client_stall_s)
        if self._answering is not None:
            self._answering.pause()

    def resume_writing(self) -> None:
        self._stalled_at = -1
        if self._answering is not None:
            self._answering.resume()
        else:
            self._serve_waiting()
            self._await_rest()

    # The reader's callbacks

    def on_head(self, head: RequestHead, length: int | None) -> None:
        if self._closing:
            return  # behind the last request that is answered here
        front = self._server.front
        if head is self._met and front is self._front:
            return  # it found no objection and expects no 100 the last time
        self._front = front  # to the end of this request, whatever is configured meanwhile
        objection = self._objection = front.objection(head)
        if objection is not None and (head.expects_continue or length is None or length > _SMALL_BODY):
            raise objection
        self._met = None if objection or head.expects_continue else head
        self._continue_due = head.expects_continue
        self._say_continue()

    def on_request(self, head: RequestHead, body: bytes) -> None:
        if self._closing:
            return
        self._continue_due = False
        if not (self._busy or self._waiting or self._stalled_at >= 0):
            self._serve(self._front, head, body, self._objection)
            return
        self._waiting.append(Received(self._front, head, body, self._objection))
        if len(self._waiting) >= _WAITING_LIMIT or len(body) > _SMALL_BODY:
            self._held = True
            self._transport.pause_reading()

    # Serving

    def request_done(self, keep_alive: bool) -> None:
        """The answer is complete: serve what waits, or close."""
        self._answered(keep_alive)
        if self._waiting:
            self._serve_waiting()
        if self._continue_due:
            self._say_continue()
        self._await_rest()

    def check(self, now: float) -> None:
        """Close a connection that keeps us waiting: for a request, for the rest of one, or for taking its answer.

        One that is not being read, because too much waits on it, has to be asked whether its client is still there.
        """
        if self._stalled_at >= 0:
            self._check_stall(now)
        elif not self._busy:
            if now >= self._deadline:
                self._transport.abort()
        elif not self._transport.is_reading() and hung_up(self._transport):
            self._transport.abort()

    def close_if_idle(self) -> None:
        if not self._busy and not self._reader.inside_message:
            self._transport.close()

    def abort(self) -> None:
        self._transport.abort()

    def _serve_waiting(self) -> None:
        """Serve in order, until one takes time or the client takes nothing."""
        while self._waiting and not self._busy and self._stalled_at < 0:
            item = self._waiting.popleft()
            if isinstance(item, PointsmanError):
                self._refuse(item)
            else:
                self._serve(item.front, item.head, item.body, item.objection)
        if self._held and not self._waiting and not self._transport.is_closing():
            self._held = False
            self._transport.resume_reading()

    def _serve(self, front: Front, head: RequestHead, body: bytes, objection: PointsmanError | None) -> None:
        self._busy = True
        self._in_head = False
        reply = Reply(self._transport, head)
        if self._server.stopping or self._server.retiring:
            reply.keep_alive = False
        self._answering = self._begin(front, head, body, objection, reply)
        if self._answering is None:
            self._answered(reply.keep_alive)

    def _begin(
        self, front: Front, head: RequestHead, body: bytes, objection: PointsmanError | None, reply: Reply
    ) -> Answering | None:
        """Have the front answer; None when the answer is already complete."""
        try:
            if objection is not None:
                raise objection
            return front.serve(head, body, reply, self)
        except PointsmanError as error:
            problem = error
        except Exception:
            _log.exception("a request failed inside the gateway")
            problem = PointsmanError("internal error")
        reply.refuse(problem, front.request_id(head))
        return None

    def _answered(self, keep_alive: bool) -> None:
        self._busy = False
        self._answering = None
        if not keep_alive or self._server.stopping:
            self._close()

    def _say_continue(self) -> None:
        """Ask for a body that is being held back, once its turn has come."""
        if self._continue_due and not self._busy and not self._waiting and not self._closing:
            self._continue_due = False
            self._transport.write(CONTINUE)

    def _refuse(self, error: PointsmanError) -> None:
        """Answer what cannot be read any further, and close."""
        body = error_body(error)
        self._transport.write(
            b"%bcontent-length: %d\r\nconnection: close\r\n\r\n" % (error_lines(error), len(body)) + body
        )
        self._linger()

    def _close(self) -> None:
        self._closing = True
        self._waiting.clear()
        self._expect_within(self._server.timeouts.client_stall_s)  # to take what is still on its way
        self._transport.close()

    def _linger(self) -> None:
        """Closing over unread bytes would reset the connection and could take our answer with it."""
        self._expect_within(_LINGER_S)
        if self._transport.can_write_eof():
            self._transport.write_eof()

    def _await_rest(self) -> None:
        """When it is the client's turn to send, give it its time."""
        if self._busy or self._closing or self._stalled_at >= 0:
            return
        reader, timeouts = self._reader, self._server.timeouts
        was_in_head, self._in_head = self._in_head, False
        if not reader.inside_message:
            self._expect_within(timeouts.client_idle_s)
        elif reader.inside_body:
            self._expect_within(timeouts.client_body_s)
        else:
            self._in_head = True
            if not was_in_head:  # once per head: dripping bytes does not buy time
                self._expect_within(timeouts.client_head_s)

    def _expect_within(self, seconds: float) -> None:
        self._deadline = self._server.clock.now() + seconds

    def _check_stall(self, now: float) -> None:
        size = self._transport.get_write_buffer_size()
        if size != self._stalled_at:
            self._stalled_at = size
            self._expect_within(self._server.timeouts.client_stall_s)
        elif now >= self._deadline:
            self._transport.abort()
