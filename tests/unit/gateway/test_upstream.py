"""However a stream reaches us, through the shortcut or past it, its client gets the same; sockets are in tests/e2e."""

import asyncio
import socket
import ssl
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fuzz.targets.relay import HEAD, OnePool, Wire, arrived

from pointsman.clock import ManualClock
from pointsman.gateway.origin import Origin
from pointsman.gateway.settings import Limits, Timeouts
from pointsman.gateway.upstream import ConnectFailed, Pool, Shortcut, UpstreamSink
from pointsman.wire.http1.framing import LAST_CHUNK, chunk
from pointsman.wire.http1.messages import ResponseHead
from pointsman.wire.openai.likeness import Likeness

TEXT = b'data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}],"usage":null}\n\n'
EVENTS = [
    TEXT,
    TEXT.replace(b"null", b'"stop"', 1),
    TEXT.replace(b"\n\n", b"\r\n\r\n"),
    TEXT[:-1],
    TEXT + TEXT,
    TEXT.replace(b'"usage":null', b'"error":{"message":"x"}'),
    b'data: {"choices":[],"usage":{"prompt_tokens":1}}\n\n',
    b": ping\n\n",
    b"\n",
    b"data: [DONE]\n\n",
]


def damaged(event: bytes, at: int, byte: int) -> bytes:
    """`event` with one byte changed."""
    at %= len(event)
    return event[:at] + bytes((byte,)) + event[at + 1 :]


def saying(inside: bytes) -> bytes:
    return TEXT.replace(b'"a"', b'"%b"' % inside)


events = st.lists(
    st.sampled_from([TEXT, *EVENTS])
    | st.sampled_from([b"", b"b", b"\\n", b"\\\\", b"\\", b'\\"', b'"', b"\n", b"\r", b"usage", b"\xc3\xa9"]).map(
        saying
    )
    | st.builds(damaged, st.sampled_from(EVENTS), st.integers(0, 200), st.integers(0, 255)),
    min_size=1,
    max_size=40,
)


@given(events)
def test_the_shortcut_changes_nothing(events: list[bytes]) -> None:
    chunks = [chunk(event) for event in events]
    torn = [part for each in chunks for part in (each[:1], each[1:])]
    assert arrived([HEAD, *chunks, LAST_CHUNK]) == arrived([HEAD, *torn, LAST_CHUNK])


class Listener(UpstreamSink):
    """Opens a shortcut for chunks of `ab`, and writes down what it hears."""

    def __init__(self) -> None:
        self.heard: list[bytes | int | str] = []
        self.client = Wire()

    def on_response_head(self, head: ResponseHead, length: int | None) -> None:
        self.heard.append("head")

    def on_response_body(self, data: bytes, *, last: bool) -> None:
        self.heard.append(data)

    def shortcut(self) -> Shortcut | None:
        return cast(Shortcut, (self.client, Likeness(lambda read: read == chunk(b"ab\n"))))

    def on_passed(self, count: int) -> None:
        self.heard.append(count)

    def on_complete(self) -> None:
        self.heard.append("complete")


def test_what_passed_is_told_before_anything_else_and_some_at_a_time() -> None:
    connection, listener = OnePool().connection, Listener()
    connection.send(listener, b"", b"")
    assert not connection.heard
    for read in (HEAD, chunk(b"x\n"), *[chunk(b"ab\n")] * 20, chunk(b"y"), chunk(b"ab\n"), LAST_CHUNK):
        connection.data_received(read)
    assert listener.heard == ["head", b"x\n", 16, 4, b"y", b"ab\n", "complete"]
    assert listener.client.written == chunk(b"ab\n") * 20
    assert connection.heard


def test_a_shortcut_ends_with_whoever_waited() -> None:
    connection, listener, second = OnePool().connection, Listener(), Listener()
    connection.send(listener, b"", b"")
    for read in (HEAD, chunk(b"x\n"), chunk(b"ab\n"), LAST_CHUNK):
        connection.data_received(read)
    connection.send(second, b"", b"")
    for read in (HEAD, chunk(b"ab\n")):
        connection.data_received(read)
    assert listener.heard == ["head", b"x\n", 1, "complete"]
    connection.close()
    connection.data_received(chunk(b"ab\n"))
    for one in (listener, second):
        assert one.client.written == chunk(b"ab\n")
    assert second.heard == ["head"]


def no_tls(reason: str) -> ssl.SSLError:
    error = ssl.SSLError(1, reason)
    error.reason = reason
    return error


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "resolve: a: Name or service not known"),
        (ConnectionRefusedError(), "refused"),
        (OSError(113, "No route to host"), "connect"),
        (OSError(24, "Too many open files"), "no_socket"),
        (TimeoutError(), "connect_timeout"),
        (no_tls("UNSUPPORTED_PROTOCOL"), "tls: UNSUPPORTED_PROTOCOL"),
        (
            no_tls("RECORD_LAYER_FAILURE"),
            "tls: RECORD_LAYER_FAILURE: it seems to speak plain HTTP; then its address begins with http://",
        ),
    ],
)
def test_why_there_is_no_connection_is_told(monkeypatch: pytest.MonkeyPatch, error: Exception, told: str) -> None:
    async def fail(*_: Any, **__: Any) -> None:
        raise error

    async def connect() -> None:
        monkeypatch.setattr(asyncio.get_running_loop(), "create_connection", fail)
        await Pool(Origin.parse("https://a:1"), ManualClock(), Timeouts(), Limits(), None).connect()

    with pytest.raises(ConnectFailed) as caught:
        asyncio.run(connect())
    assert (caught.value.reason, str(caught.value)) == (told.partition(":")[0], told)


@pytest.mark.parametrize("error", [OSError(16, "Device or resource busy"), socket.gaierror(-3, "Try again")])
def test_no_node_is_to_blame_where_this_process_can_open_nothing(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """What looking up a name fails with then: the first as seen, the second as may be."""

    async def connect() -> None:
        async def fail(*_: Any, **__: Any) -> None:
            monkeypatch.setattr(socket, "socket", nothing_left)
            raise error

        monkeypatch.setattr(asyncio.get_running_loop(), "create_connection", fail)
        try:
            await Pool(Origin.parse("http://a:1"), ManualClock(), Timeouts(), Limits(), None).connect()
        finally:
            monkeypatch.undo()

    with pytest.raises(ConnectFailed, match="no_socket"):
        asyncio.run(connect())


def nothing_left(*_: Any) -> None:
    raise OSError(24, "Too many open files")
