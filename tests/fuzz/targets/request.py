"""Requests: the same however they are cut, and what h11 reads where it reads them too."""

import h11
from tests.fuzz.pieces import cuts
from tests.support.smuggling import AMBIGUOUS, SECOND, UNUSUAL

from pointsman.brain.model.errors import ClientError
from pointsman.wire.http1.heads import request_head
from pointsman.wire.http1.lines import HOP_BY_HOP
from pointsman.wire.http1.messages import HttpLimits, RequestHead
from pointsman.wire.http1.request import RequestReader

SEEDS = [raw + SECOND for raw in (*AMBIGUOUS.values(), *UNUSUAL.values()) if len(raw) < 2000] + [*UNUSUAL.values()]
WORDS = (
    b"GET ", b"POST ", b"OPTIONS * ", b"CONNECT ", b"PRI * ", b" HTTP/1.1\r\n", b" HTTP/1.0\r\n", b"http://h/",
    b"host: ", b"content-length: ", b"transfer-encoding: ", b"chunked", b"connection: ", b"upgrade", b"close",
    b"keep-alive", b"\r\n\r\n", b"0\r\n\r\n", b"\r\n", b";a=b", b"expect: 100-continue\r\n", b"gzip, ", b"\0", b"\x0b",
)  # fmt: skip

Read = tuple[bytes, bytes, dict[bytes, bytes], bytes]
"""Method, target, headers without the length, body."""


class Sink:
    def __init__(self) -> None:
        self.requests: list[Read] = []
        self.length: int | None = None

    def on_head(self, head: RequestHead, length: int | None) -> None:
        assert head.target.startswith(b"/") or (head.method, head.target) == (b"OPTIONS", b"*")
        self.length = length

    def on_request(self, head: RequestHead, body: bytes) -> None:
        assert self.length is None or self.length == len(body)
        check_onward(head, body)
        fields = {name: value.strip(b" \t") for name, value in head.fields.items()}
        self.requests.append((head.method, head.target, fields, body))


def check(data: bytes) -> None:
    data = data[:4096]  # below all limits, which depend on how much of a message is known
    whole = ours([data])
    for pieces in cuts(data):
        assert ours(pieces) == whole, pieces
    assert ours([data, data]) == ours([data + data])  # the second time its head may be recognised
    requests, _ = whole
    expected, refused = theirs(data)
    assert not refused or len(requests) <= len(expected), f"h11 refuses {requests[len(expected) :]}"
    for mine, their in zip(requests, expected, strict=False):
        assert agree(mine, their), (mine, their)


def ours(pieces: list[bytes]) -> tuple[list[Read], str]:
    """What is read, and the name of the refusal, if any."""
    sink = Sink()
    reader = RequestReader(sink, HttpLimits())
    try:
        for piece in pieces:
            reader.feed(piece)
    except ClientError as error:
        return sink.requests, type(error).__name__
    return sink.requests, ""


def theirs(data: bytes) -> tuple[list[Read], bool]:
    """What h11 reads, and whether it refuses what follows."""
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=1 << 20)
    requests: list[Read] = []
    try:
        connection.receive_data(data)
        while (read := _next(connection)) is not None:
            requests.append(read)
            if connection.our_state is h11.SEND_RESPONSE:
                connection.send(h11.Response(status_code=404, headers=[("content-length", "0")]))
            connection.send(h11.EndOfMessage())
            if connection.our_state is not h11.DONE or connection.their_state is not h11.DONE:
                break
            connection.start_next_cycle()
    except h11.RemoteProtocolError:
        return requests, True
    return requests, False


def _next(connection: h11.Connection) -> Read | None:
    request, body = None, b""
    buffered = connection._receive_buffer._data
    while buffered.startswith(b"\r\n"):  # h11 does not forgive empty lines before a request
        del buffered[:2]
    while True:
        event = connection.next_event()
        if isinstance(event, h11.Request):
            request = event
        elif isinstance(event, h11.Data):
            body += event.data
        elif isinstance(event, h11.EndOfMessage):
            assert request is not None
            return request.method, request.target, dict(request.headers), body
        else:
            return None


def check_onward(head: RequestHead, body: bytes) -> None:
    """A node, too, reads one request, of the same body."""
    ours = b"host: n\r\nauthorization: Bearer k\r\n"
    sent, refused = theirs(request_head(head, b"/p", ours, b"id", len(body)) + body)
    assert (len(sent), refused) == (1, False), head
    method, target, fields, read = sent[0]
    assert (method, target, read) == (head.method, b"/p" + head.target, body)
    assert (fields[b"host"], fields[b"authorization"], fields[b"x-request-id"]) == (b"n", b"Bearer k", b"id")
    assert not fields.keys() & HOP_BY_HOP


def agree(mine: Read, their: Read) -> bool:
    """Ours drops the offer of an upgrade and the host of an absolute target."""
    targets = mine[1] == their[1] or not their[1].startswith(b"/")
    return (mine[0], compared(mine[2]), mine[3]) == (their[0], compared(their[2]), their[3]) and targets


def compared(fields: dict[bytes, bytes]) -> dict[bytes, bytes]:
    """Without what we keep elsewhere; h11 writes some values in small letters."""
    return {name: value.lower() for name, value in fields.items() if name not in (b"upgrade", b"content-length")}
