"""A stream on its way from a node's socket to the client's: what arrives is what was sent, however it was cut."""

from typing import Any, cast

import h11
from tests.fuzz.pieces import cuts
from tests.fuzz.targets import events
from tests.fuzz.targets.events import AFTER, BEFORE

from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.gateway.reply import Reply
from pointsman.gateway.stream_answer import StreamAnswer
from pointsman.gateway.upstream import Pool, UpstreamConnection
from pointsman.wire.http1.framing import LAST_CHUNK, chunk
from pointsman.wire.http1.request import RequestHead
from pointsman.wire.http1.response import ResponseHead
from pointsman.wire.openai.account import ChatAccount

SEEDS = [*events.SEEDS, BEFORE + b"a" + AFTER + BEFORE + rb"\u00e9\"" + AFTER + b"data: [DONE]\n\n"]
WORDS = (*events.WORDS, BEFORE, AFTER)
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
ASKED = RequestHead(
    method=b"POST", target=b"/", path=b"/", fields={}, onward=b"", keep_alive=True, modern=True, expects_continue=False
)

Arrived = tuple[bytes, Verdict, str, bool]
"""The client's body, and how the try ended: verdict, reason, whether anything was delivered."""


class Wire:
    """Both transports: what is written to the client is kept."""

    def __init__(self) -> None:
        self.written = b""
        self.family = None

    def write(self, data: bytes) -> None:
        self.written += data

    def get_extra_info(self, _: str) -> Any:
        return self

    def is_closing(self) -> bool:
        return False

    def abort(self) -> None: ...

    close = abort


class OnePool:
    node_gone_s = 60.0

    def give_back(self, _: UpstreamConnection) -> None: ...

    forget = give_back


class Try:
    """What `Attempt` does with a stream, without the clock."""

    def __init__(self, client: Wire) -> None:
        self._reply = Reply(cast(Any, client), ASKED)
        self._answer: StreamAnswer | None = None
        self.outcome: Outcome | None = None

    def on_response_head(self, head: ResponseHead, length: int | None) -> None:
        assert length is None
        self._answer = StreamAnswer(head, self._reply, b"id", ChatAccount(), self, strip_usage=False)

    def on_response_body(self, data: bytes) -> None:
        assert self._answer is not None
        self._answer.take(data)

    def on_response_chunk(self, data: bytes, start: int) -> None:
        assert self._answer is not None
        self._answer.take_chunk(data, start)

    def on_complete(self) -> None:
        assert self._answer is not None
        self.outcome = self._answer.end()

    def on_lost(self, reason: str, *, stale: bool) -> None:
        raise AssertionError(reason)

    def first_token(self) -> None: ...

    def more_tokens(self, count: int) -> None: ...


def check(data: bytes) -> None:
    data = data[:1000]
    if not data:
        return
    whole = arrived([HEAD + chunk(data) + LAST_CHUNK])
    if whole[1] is Verdict.OK:
        assert whole[0] == data
    for pieces in cuts(data):
        chunks = [chunk(piece) for piece in pieces]
        assert arrived([HEAD, *chunks, LAST_CHUNK]) == whole, pieces
        assert arrived([HEAD + b"".join(chunks) + LAST_CHUNK]) == whole, pieces
    for reads in cuts(HEAD + chunk(data) + LAST_CHUNK):
        assert arrived(reads) == whole, reads


def arrived(reads: list[bytes]) -> Arrived:
    """What a client gets when a node's answer comes in these reads."""
    client = Wire()
    attempt = Try(client)
    connection = UpstreamConnection(cast(Pool, OnePool()))
    connection.connection_made(cast(Any, Wire()))
    connection.send(attempt, b"", b"")
    for read in reads:
        connection.data_received(read)
    outcome = attempt.outcome
    assert outcome is not None
    assert outcome.delivered == bool(client.written)
    return body_of(client.written), outcome.verdict, outcome.reason, outcome.delivered


def body_of(answer: bytes) -> bytes:
    """The body of a whole answer, which must be one and end; nothing for nothing."""
    if not answer:
        return b""
    connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=1 << 20)
    connection.send(h11.Request(method="GET", target="/", headers=[("host", "h")]))
    connection.send(h11.EndOfMessage())
    connection.receive_data(answer)
    body = b""
    while not isinstance(event := connection.next_event(), h11.EndOfMessage):
        body += event.data if isinstance(event, h11.Data) else b""
    assert connection.trailing_data == (b"", False)
    return body
