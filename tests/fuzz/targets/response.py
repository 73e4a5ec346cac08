"""Responses: the same however they are cut, and what h11 reads where it reads them too."""

from pathlib import Path

import h11
from tests.fuzz.pieces import cuts
from tests.support.answers import BROKEN, ODD, SURPLUS

from pointsman.wire.http1.framing import chunk_body
from pointsman.wire.http1.heads import response_lines
from pointsman.wire.http1.lines import HOP_BY_HOP
from pointsman.wire.http1.messages import ResponseHead
from pointsman.wire.http1.response import Garbage, ResponseReader

VLLM = Path(__file__).parents[2] / "fixtures" / "vllm"
SEEDS = [raw for raw in (*BROKEN.values(), *ODD.values(), *SURPLUS.values()) if len(raw) < 2000]
SEEDS += [path.read_bytes()[:2000] for path in sorted(VLLM.glob("*.http"))]
WORDS = (
    b"HTTP/1.1 200 OK\r\n", b"HTTP/1.0 ", b"HTTP/1.1 100 \r\n\r\n", b" 204 ", b" 304 ", b"content-length: ", b"chunked",
    b"transfer-encoding: ", b"connection: close\r\n", b"content-encoding: gzip\r\n", b"\r\n\r\n", b"0\r\n\r\n", b"\r\n",
)  # fmt: skip

Read = tuple[int, dict[bytes, bytes], bytes, bool]
"""Status, headers without the length, body, whether it is complete."""


class Sink:
    def __init__(self) -> None:
        self.heads: list[ResponseHead] = []

    def on_response_head(self, head: ResponseHead, length: int | None) -> None:
        self.heads.append(head)


def check(data: bytes) -> None:
    data = data[:4096]
    whole = ours([data])
    for pieces in cuts(data):
        assert ours(pieces) == whole, pieces
    check_next(data, whole)
    expected = theirs(data)
    if whole is not None and expected is not None and whole[3] and expected[3]:
        assert agree(whole, expected), (whole, expected)


def ours(pieces: list[bytes]) -> Read | None:
    """What is read when the connection ends behind the last piece; None for garbage, and before the head's end."""
    sink = Sink()
    return read(ResponseReader(sink), sink, pieces)


def read(reader: ResponseReader, sink: Sink, pieces: list[bytes]) -> Read | None:
    body = b""
    try:
        for index, piece in enumerate(pieces):
            if reader.between_chunks and (start := chunk_body(piece)):
                body += piece[start:-2]
                continue
            body += reader.feed(piece)
            if reader.complete:
                if b"".join(pieces[index + 1 :]).strip(b"\r\n"):
                    return None  # the connection is closed over what nobody asked for
                break
    except Garbage:
        return None
    if not sink.heads:
        return None
    (head,) = sink.heads
    assert not (reader.complete and reader.reusable and head.until_close)
    complete = reader.complete or reader.ends_with_connection()
    if complete:
        check_onward(head, body)
    fields = {name: value.strip(b" \t") for name, value in head.fields.items()}
    return head.status, fields, body, complete


def check_next(data: bytes, whole: Read | None) -> None:
    """What comes again on the connection, its head perhaps recognised, is read as before."""
    sink = Sink()
    reader = ResponseReader(sink)
    for _ in range(3):
        assert read(reader, sink, [data]) == whole
        if not (reader.complete and reader.reusable):
            break
        sink.heads.clear()
        reader.expect_response()


def theirs(data: bytes) -> Read | None:
    connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=1 << 20)
    connection.send(h11.Request(method="POST", target="/", headers=[("host", "h"), ("content-length", "0")]))
    connection.send(h11.EndOfMessage())
    response, body = None, b""
    try:
        connection.receive_data(data)
        if data:
            connection.receive_data(b"")
        while True:
            event = connection.next_event()
            if isinstance(event, h11.Response):
                response = event
            elif isinstance(event, h11.Data):
                body += event.data
            elif not isinstance(event, h11.InformationalResponse):
                break
    except h11.RemoteProtocolError:
        return None
    if response is None:
        return None
    return response.status_code, dict(response.headers), body, isinstance(event, h11.EndOfMessage)


def check_onward(head: ResponseHead, body: bytes) -> None:
    """A client, too, reads one response, of the same body."""
    sent = theirs(response_lines(head, b"id") + b"content-length: %d\r\n\r\n" % len(body) + body)
    assert sent is not None, head
    status, fields, read, complete = sent
    assert (status, read, complete) == (head.status, body, True)
    assert fields[b"x-request-id"] == b"id"
    assert not fields.keys() & HOP_BY_HOP


def agree(mine: Read, their: Read) -> bool:
    """A coded body is read decoded here."""
    coded = b"content-encoding" in their[1]
    return mine[0] == their[0] and (coded or (compared(mine[1]) == compared(their[1]) and mine[2] == their[2]))


def compared(fields: dict[bytes, bytes]) -> dict[bytes, bytes]:
    """Without the length, which we keep elsewhere; h11 writes some values in small letters."""
    return {name: value.lower() for name, value in fields.items() if name != b"content-length"}
