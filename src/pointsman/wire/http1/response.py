"""Reading one response after the other from a node's bytes."""

from typing import Protocol

import msgspec
from httptools import HttpParserCallbackError, HttpParserError, HttpParserUpgrade, HttpResponseParser

from pointsman.wire.http1.coding import BadCoding, Decoding, decoding_of
from pointsman.wire.http1.request import Headers

_HEAD_LIMIT = 64 * 1024  # bytes
_LAST_STATUS = 599


class ResponseHead(msgspec.Struct, frozen=True):
    """Status and headers (names in lower case) of a response; `length` None means not announced.

    `until_close` tells that only the end of the connection ends the body. A coding that is undone is not shown.
    """

    status: int
    headers: Headers
    fields: dict[bytes, bytes]
    length: int | None
    keep_alive: bool
    until_close: bool

    @property
    def is_event_stream(self) -> bool:
        fields = self.fields
        return fields.get(b"content-type", b"").startswith(b"text/event-stream") and b"content-encoding" not in fields


class Garbage(Exception):
    """The node does not speak HTTP/1.1, or says more than it was asked: `body` is then the end of what it was asked."""

    def __init__(self, why: str, body: bytes = b"") -> None:
        super().__init__(why)
        self.body = body


class ResponseSink(Protocol):
    """Who is told of the head, as soon as it is complete."""

    def on_response_head(self, head: ResponseHead) -> None: ...


class ResponseReader:
    """Feeds bytes. `feed` returns the body bytes among them; `complete` turns true at the message's end."""

    __slots__ = ("_decoding", "_head", "_headers", "_parser", "_pieces", "_sink", "_size", "complete", "reusable")

    def __init__(self, sink: ResponseSink) -> None:
        self._sink = sink
        self._parser = HttpResponseParser(self)
        self.expect_response()

    def expect_response(self) -> None:
        """Make ready for the next response on the same connection."""
        self._pieces: list[bytes] = []
        self._head: ResponseHead | None = None
        self._decoding: Decoding | None = None
        self._headers: Headers = []
        self._size = 0
        self.complete = False
        self.reusable = False

    def feed(self, data: bytes) -> bytes:
        """The body bytes in `data`, without their chunk framing and coding.

        Raises Garbage, also behind a complete response, which `complete` then tells.
        """
        try:
            self._parser.feed_data(data)
        except HttpParserCallbackError as error:
            if not self.complete:
                raise error.__context__ or error from None
            raise Garbage("a second response to one request", self._taken()) from None
        except (HttpParserError, HttpParserUpgrade) as error:
            self.reusable = False
            raise Garbage(str(error), self._taken() if self.complete else b"") from None
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
            self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if not 100 <= status <= _LAST_STATUS:
            raise Garbage(f"there is no status {status}")
        if status < 200:
            return
        fields = dict(self._headers)
        length = fields.get(b"content-length")
        chunked = b"transfer-encoding" in fields
        until_close = length is None and not chunked and status not in (204, 304)
        # llhttp forgets the flag when the message completes, so it is read now.
        keep_alive = self._parser.should_keep_alive()
        self.reusable = keep_alive and not until_close
        if chunked or not keep_alive:  # other versions are never kept alive
            self._check_version(chunked)
        size = None if length is None or chunked else int(length)
        coding = fields.get(b"content-encoding")
        if coding is not None:
            self._decoding = decoding_of(coding)
        if self._decoding is not None:
            size = None
            del fields[b"content-encoding"]
            self._headers = [header for header in self._headers if header[0] != b"content-encoding"]
        self._head = ResponseHead(status, self._headers, fields, size, self.reusable, until_close)
        self._sink.on_response_head(self._head)

    def on_body(self, piece: bytes) -> None:
        self._pieces.append(piece)

    def on_message_complete(self) -> None:
        if self._head is None:
            self._headers = []  # an interim (1xx) response: the real one follows
        else:
            self.complete = True

    def _check_version(self, chunked: bool) -> None:
        """llhttp takes versions and transfer codings that are not spoken here."""
        version = self._parser.get_http_version()
        codings = [value for name, value in self._headers if name == b"transfer-encoding"]
        if version not in ("1.0", "1.1"):
            raise Garbage(f"HTTP/{version}")
        if chunked and (version == "1.0" or [coding.strip().lower() for coding in codings] != [b"chunked"]):
            raise Garbage(f"a transfer coding other than chunked: {codings}")

    def _decoded(self, decoding: Decoding, body: bytes) -> bytes:
        try:
            body = decoding.feed(body)
        except BadCoding as error:
            raise Garbage(str(error)) from None
        if self.complete and not decoding.complete:
            raise Garbage("the coded body ends too soon")
        return body
