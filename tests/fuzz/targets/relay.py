"""A stream on its way from a node's socket to the client's: what arrives is what was sent, however it was cut."""

from typing import Any, cast

import h11
from tests.fuzz.pieces import cuts
from tests.fuzz.targets import events
from tests.fuzz.targets.events import AFTER, BEFORE

from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.orders import Start
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.brain.model.request import Request
from pointsman.clock import ManualClock
from pointsman.gateway.attempt import Attempt
from pointsman.gateway.kept import Kept
from pointsman.gateway.reply import Reply
from pointsman.gateway.settings import Timeouts
from pointsman.gateway.targets import Target
from pointsman.gateway.upstream import UpstreamConnection
from pointsman.gateway.work import Work
from pointsman.wire.http1.framing import LAST_CHUNK, chunk
from pointsman.wire.http1.messages import RequestHead

SEEDS = [*events.SEEDS, BEFORE + b"a" + AFTER + BEFORE + rb"\u00e9\"" + AFTER + b"data: [DONE]\n\n"]
WORDS = (*events.WORDS, BEFORE, AFTER)
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
ORDER = Start(ticket=1, lease=1, node=NodeSpec(url="http://n"), attempt=1, first_token_s=1.0)
ASKED = RequestHead(
    method=b"POST", target=b"/", path=b"/", fields={}, onward=b"", keep_alive=True, modern=True, expects_continue=False
)
WORK = Work(
    id=b"id",
    head=ASKED,
    body=b"{}",
    request=Request(id="id", model="m", stream=True),
    events="choices",
    expires=1.0,
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
    """A pool of one connection, which is kept."""

    node_gone_s = 60.0

    def __init__(self) -> None:
        self.connection = UpstreamConnection(cast(Any, self))
        self.connection.connection_made(cast(Any, Wire()))

    def take(self) -> UpstreamConnection:
        return self.connection

    def give_back(self, _: UpstreamConnection) -> None: ...

    forget = give_back


class Owner:
    """Hears how the try ended. Stands for the loop as well, on which nothing ever comes due."""

    def __init__(self) -> None:
        self.outcome: Outcome | None = None

    def tried(self, outcome: Outcome, _: Kept | None) -> None:
        assert self.outcome is None
        self.outcome = outcome

    def broken(self) -> None:
        raise AssertionError

    def first_token(self) -> None: ...

    def more_tokens(self, count: int) -> None: ...

    def call_later(self, *_: object) -> None: ...


def check(data: bytes) -> None:
    data = data[:1000]
    if not data:
        return
    whole = arrived([HEAD + chunk(data) + LAST_CHUNK])
    if whole[1] is Verdict.OK and whole[3]:
        assert whole[0] == data
    for pieces in cuts(data):
        chunks = [chunk(piece) for piece in pieces]
        assert arrived([HEAD, *chunks, LAST_CHUNK]) == whole, pieces
        assert arrived([HEAD + b"".join(chunks) + LAST_CHUNK]) == whole, pieces
    for reads in cuts(HEAD + chunk(data) + LAST_CHUNK):
        assert arrived(reads) == whole, reads


def arrived(reads: list[bytes]) -> Arrived:
    """What a client gets when a node's answer comes in these reads."""
    client, owner, pool = Wire(), Owner(), OnePool()
    reply = Reply(cast(Any, client), ASKED)
    target = Target(pool=cast(Any, pool), prefix=b"", lines=b"")
    attempt = Attempt(WORK, ORDER, target, reply, owner, ManualClock(0.0), Timeouts(), cast(Any, owner))
    attempt.start()
    for read in reads:
        pool.connection.data_received(read)
    outcome = owner.outcome
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
