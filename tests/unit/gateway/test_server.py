"""A client's connection over a transport that only takes notes."""

import asyncio
from typing import cast

from pointsman.brain.model.errors import PointsmanError
from pointsman.clock import ManualClock
from pointsman.gateway.deadlines import Deadlines
from pointsman.gateway.reply import Reply
from pointsman.gateway.server import ClientConnection, Server
from pointsman.gateway.settings import Limits, Timeouts
from pointsman.wire.http1.messages import RequestHead


class Front:
    """Answers at once, or raises what it is told to."""

    problem: Exception | None = None

    def objection(self, head: RequestHead) -> PointsmanError | None:
        return None

    def request_id(self, head: RequestHead) -> bytes:
        return b"id"

    def serve(self, head: RequestHead, body: bytes, reply: Reply, connection: ClientConnection) -> None:
        if self.problem is not None:
            raise self.problem
        reply.send(b"HTTP/1.1 200 OK\r\n", body)


class Transport:
    def __init__(self) -> None:
        self.written = b""
        self.closing = self.aborted = False

    def set_write_buffer_limits(self, high: int) -> None: ...

    def write(self, data: bytes) -> None:
        self.written += data

    def is_reading(self) -> bool:
        return True

    def is_closing(self) -> bool:
        return self.closing

    def close(self) -> None:
        self.closing = True

    def abort(self) -> None:
        self.aborted = True


def connected(front: Front, clock: ManualClock) -> tuple[ClientConnection, Transport]:
    deadlines = Deadlines(cast(asyncio.AbstractEventLoop, None), clock)
    connection = Server(front, deadlines, clock, Timeouts(), Limits()).connection()
    transport = Transport()
    connection.connection_made(cast(asyncio.Transport, transport))
    return connection, transport


def test_a_closing_connection_has_time_to_deliver_its_answer() -> None:
    clock = ManualClock(0.0)
    connection, transport = connected(Front(), clock)
    clock.advance_to(9.9)
    connection.data_received(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
    assert transport.closing
    clock.advance_to(10.9)
    connection.check(clock.now())
    assert not transport.aborted
    clock.advance_to(70.0)
    connection.check(clock.now())
    assert transport.aborted


def test_an_accident_is_an_internal_error_of_its_own_request() -> None:
    front = Front()
    front.problem = RuntimeError("oh")
    connection, transport = connected(front, ManualClock(0.0))
    connection.data_received(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
    front.problem = None
    connection.data_received(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
    assert transport.written.startswith(b"HTTP/1.1 500 ")
    assert transport.written.count(b"HTTP/1.1 200 ") == 1


def test_behind_the_last_answer_nothing_is_served() -> None:
    front = Front()
    connection, transport = connected(front, ManualClock(0.0))
    connection._server.stopping = True
    connection.data_received(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n" * 2 + b"GARBAGE\r\n\r\n")
    assert transport.written.count(b"HTTP/1.1 ") == 1
    assert transport.closing
