"""Reading one response after the other from a node's bytes.

llhttp (through httptools) reads them, but for the two things that come most and always look the same: a whole response
whose head is the one before's (`repeated.py`), and a read that is exactly one chunk. llhttp is shown neither: it stands
before them as it does behind them, between two messages or between two chunks.
"""

from typing import Final, Protocol

from httptools import HttpParserCallbackError, HttpParserError, HttpParserUpgrade, HttpResponseParser

from pointsman.wire.http1.coding import BadCoding, Decoding, decoding_of
from pointsman.wire.http1.lines import OURS_IN_RESPONSES, Headers, forwarded, status_line
from pointsman.wire.http1.messages import ResponseHead
from pointsman.wire.http1.repeated import Repeated

_HEAD_LIMIT: Final = 64 * 1024  # bytes
_LAST_STATUS = 599
_MODERN: Final = b"HTTP/1.1 2"
"""How most responses begin; none that an interim one goes before."""
_CHUNK_OF_LINES_END: Final = b"\n\r\n"
"""How a head ends, and a chunk of whole lines. A size line, of which llhttp tells nothing, does not end so."""


class Garbage(Exception):
    """The node does not speak HTTP/1.1, or says more than it was asked: `body` is then the end of what it was asked."""

    def __init__(self, why: str, body: bytes = b"") -> None:
        super().__init__(why)
        self.body = body


class ResponseSink(Protocol):
    """Who is told of the head, as soon as it is complete; `length` is the body's, None if not announced."""

    def on_response_head(self, head: ResponseHead, length: int | None) -> None: ...


class ResponseReader:
    """Feeds bytes. `feed` returns the body bytes among them; `complete` turns true at the message's end.

    `between_chunks` tells, where chunks are of whole lines, that a read that is one whole chunk (`framing.chunk_body`)
    need not be fed.
    """

    __deletable__ = ("_parser", "_sink")  # mypyc wants to know
    __slots__ = (
        "_begun",
        "_decoding",
        "_head",
        "_headers",
        "_known",
        "_length",
        "_modern",
        "_parser",
        "_pieces",
        "_sink",
        "_size",
        "between_chunks",
        "complete",
        "reusable",
    )

    def __init__(self, sink: ResponseSink) -> None:
        self._sink = sink
        self._parser = HttpResponseParser(self)
        self._known = Repeated[ResponseHead]()
        self.expect_response()

    def expect_response(self) -> None:
        """Make ready for the next response on the same connection."""
        self._pieces: list[bytes] = []
        self._head: ResponseHead | None = None
        self._decoding: Decoding | None = None
        self._headers: Headers = []
        self._length: int | None = None
        self._size = 0
        self._begun = False
        self._modern = False
        self.between_chunks = False
        self.complete = False
        self.reusable = False

    def feed(self, data: bytes) -> bytes:
        """The body bytes in `data`, without their chunk framing and coding.

        Raises Garbage, also behind a complete response, which `complete` then tells.
        """
        if self._begun:
            return self._read(data)
        self._begun = True
        head = self._known.head
        at = self._known.body_at(data)
        if head is None or at < 0:
            return self._read_first(data)
        self._head = head
        self.complete = self.reusable = True
        self._sink.on_response_head(head, len(data) - at)
        return data[at:]

    def _read_first(self, data: bytes) -> bytes:
        """Read a response's first bytes; when they are all of it, its head is remembered for the next one."""
        self._modern = data.startswith(_MODERN)
        body = self._read(data)
        if body and len(body) == self._length and self._head is not None and self.reusable:
            self._known.remember(data[: -len(body)], self._head)
        return body

    def _read(self, data: bytes) -> bytes:
        try:
            self._parser.feed_data(data)
        except HttpParserCallbackError as error:
            if not self.complete:
                raise error.__context__ or error from None
            raise Garbage("a second response to one request", self._taken()) from None
        except (HttpParserError, HttpParserUpgrade) as error:
            self.reusable = False
            raise Garbage(str(error), self._taken() if self.complete else b"") from None
        if self.between_chunks and not data.endswith(_CHUNK_OF_LINES_END):
            self.between_chunks = False
        if self._head is None:
            self._size += len(data)
            if self._size > _HEAD_LIMIT:
                raise Garbage("the response head does not end")
        return self._taken()

    def _taken(self) -> bytes:
        pieces = self._pieces
        if not pieces and self._decoding is None:
            return b""
        body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        pieces.clear()
        return body if self._decoding is None else self._decoded(self._decoding, body)

    def ends_with_connection(self) -> bool:
        """Whether the connection's orderly end is this response's orderly end."""
        whole = self._decoding is None or self._decoding.complete
        return self._head is not None and self._head.until_close and whole

    def close(self) -> None:
        """Nothing more is fed: break the cycles with parser and sink, which else would wait for the collector."""
        del self._parser, self._sink

    # llhttp's callbacks

    def on_message_begin(self) -> None:
        if self.complete:
            self.reusable = False
            raise Garbage("a second response to one request")

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._head is None:
            self._headers.append((name.lower(), value.rstrip(b" \t")))  # llhttp leaves what is behind a value
        elif name.lower() == b"connection":
            self.reusable = False  # a trailer, which llhttp heeds

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if not 100 <= status <= _LAST_STATUS:
            raise Garbage(f"there is no status {status}")
        if status < 200:
            return
        fields = dict(self._headers)
        length = fields.pop(b"content-length", None)
        chunked = b"transfer-encoding" in fields
        until_close = length is None and not chunked and status not in (204, 304)
        # llhttp forgets the flag when the message completes, so it is read now.
        keep_alive = self._parser.should_keep_alive()
        self.reusable = keep_alive and not until_close
        if chunked or not keep_alive:  # other versions are never kept alive
            self._check_version(chunked)
        self._length = None if length is None or chunked else int(length)
        coding = fields.get(b"content-encoding")
        if coding is not None:
            self._decoding = decoding_of(coding)
        if self._decoding is not None:
            self._length = None
            del fields[b"content-encoding"]
            self._headers = [header for header in self._headers if header[0] != b"content-encoding"]
        self.between_chunks = chunked and self._decoding is None
        self._head = _head(status, self._headers, fields, until_close)
        self._sink.on_response_head(self._head, self._length)

    def on_chunk_complete(self) -> None:
        self.between_chunks = self._decoding is None

    def on_body(self, piece: bytes) -> None:
        self.between_chunks = False
        self._pieces.append(piece)

    def on_message_complete(self) -> None:
        if self._head is None:
            self._headers = []  # an interim (1xx) response: the real one follows
        else:
            self.complete = True

    def _check_version(self, chunked: bool) -> None:
        """llhttp takes versions and transfer codings that are not spoken here."""
        version = "1.1" if self._modern else self._parser.get_http_version()
        codings = [value for name, value in self._headers if name == b"transfer-encoding"]
        if version not in ("1.0", "1.1"):
            raise Garbage(f"HTTP/{version}")
        if chunked and (version == "1.0" or [coding.strip().lower() for coding in codings] != [b"chunked"]):
            raise Garbage(f"a transfer coding other than chunked: {codings}")

    def _decoded(self, decoding: Decoding, body: bytes) -> bytes:
        try:
            body = decoding.feed(body)
            if self.complete and not decoding.complete:
                raise BadCoding("the coded body ends too soon")
        except BadCoding as error:
            self.complete = self.reusable = False  # its framing is whole, the answer is not
            raise Garbage(str(error)) from None
        return body


def _head(status: int, headers: Headers, fields: dict[bytes, bytes], until_close: bool) -> ResponseHead:
    """A body in a coding that is not known here is no stream to be read, nor is the body of an error."""
    kind = fields.get(b"content-type", b"").lower()
    streams = status < 300 and kind.startswith(b"text/event-stream") and b"content-encoding" not in fields
    lines = status_line(status) + forwarded(headers, OURS_IN_RESPONSES)
    return ResponseHead(status, lines, fields, streams, until_close)
