"""Reading requests from a client's bytes.

llhttp (through httptools) does the tokenising and refuses what request smuggling lives on: a length beside a transfer
coding, repeated, signed or empty lengths, bare CR or LF, NUL, a space before the colon, odd chunk sizes. What it lets
through although RFC 9112 does not is refused here: codings other than `chunked`, a missing or repeated Host, oversize.
"""

from typing import Protocol

import msgspec
from httptools import HttpParserCallbackError, HttpParserError, HttpParserUpgrade, HttpRequestParser

from pointsman.brain.model.errors import BadRequest, BodyTooLarge, HeadTooLarge, PointsmanError

Headers = list[tuple[bytes, bytes]]

_FRAMING_PER_BYTE = 8
"""Bytes of framing a body byte may cost; a chunk of one byte costs five."""


class HttpLimits(msgspec.Struct, frozen=True):
    """Sizes in bytes beyond which a message is refused; `headers` is a count."""

    head: int = 16 * 1024
    headers: int = 100
    body: int = 64 * 1024 * 1024


class RequestHead(msgspec.Struct, frozen=True, kw_only=True):
    """A request up to its body. `headers` keeps order and repetition, names in lower case; `fields` is for look-up.

    `path` is the target without its query, `content_length` is None for a chunked body; `expects_continue` tells that
    the client waits for a 100.
    """

    method: bytes
    target: bytes
    path: bytes
    headers: Headers
    fields: dict[bytes, bytes]
    keep_alive: bool
    modern: bool
    content_length: int | None
    expects_continue: bool


class RequestSink(Protocol):
    """Who is told. An exception raised from `on_head` ends the reading and comes out of `feed`."""

    def on_head(self, head: RequestHead) -> None: ...

    def on_request(self, head: RequestHead, body: bytes) -> None: ...


class RequestReader:
    """Feeds bytes, calls `sink` once per head and once per whole request, in order.

    `inside_message` tells whether a request has begun and is not complete.
    """

    __slots__ = (
        "_body",
        "_complete",
        "_fed",
        "_head",
        "_headers",
        "_limits",
        "_parser",
        "_partial",
        "_pieces",
        "_sink",
        "_target",
        "inside_message",
    )

    def __init__(self, sink: RequestSink, limits: HttpLimits) -> None:
        self._limits = limits
        self._sink = sink
        self._parser = HttpRequestParser(self)
        self._head: RequestHead | None = None
        self._complete = 0
        self._fed = 0
        self.on_message_begin()
        self.inside_message = False

    def feed(self, data: bytes) -> None:
        """Take the next bytes. Raises a ClientError (BadRequest, HeadTooLarge, BodyTooLarge or the sink's own).

        After an error the connection is beyond repair: answer and close.
        """
        complete = self._complete
        self._fed = len(data)
        upgrade_at = self._feed(data)
        if upgrade_at is not None:
            self._decline_upgrade(data[upgrade_at:])
        elif self._complete == complete:
            self._partial += len(data)
            self._check_unfinished()

    def _feed(self, data: bytes) -> int | None:
        """Let llhttp read; where it stopped behind a head that offers an upgrade."""
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade as upgrade:
            stopped_at: int = upgrade.args[0]
            return stopped_at
        except HttpParserCallbackError as error:
            cause = error.__context__
            if isinstance(cause, PointsmanError):
                raise cause from None
            raise
        except HttpParserError as error:
            raise BadRequest(f"not a valid HTTP/1.1 request: {error}") from None
        return None

    def close(self) -> None:
        """Nothing more is fed: break the cycles with parser and sink, which else would wait for the collector."""
        del self._parser, self._sink

    @property
    def inside_body(self) -> bool:
        """Whether a head is complete and its body is not."""
        return self._head is not None

    def _decline_upgrade(self, rest: bytes) -> None:
        """Serve a request that offers an upgrade (h2c, from Java clients) as if it had not, its body included.

        llhttp stops behind such a head, so a fresh parser is given the head again without the offer.
        """
        lines = [b"%b: %b\r\n" % header for header in self._headers if header[0] not in (b"upgrade", b"connection")]
        start = b"%b %b HTTP/%b" % (self._parser.get_method(), self._target, self._parser.get_http_version().encode())
        again = b"%b\r\n%b\r\n%b" % (start, b"".join(lines), rest)
        self._parser = HttpRequestParser(self)
        self.feed(again)

    # llhttp's callbacks

    def on_message_begin(self) -> None:
        self._headers: Headers = []
        self._pieces: list[bytes] = []
        self._body = 0
        self._target = b""
        self._partial = 0
        self.inside_message = True

    def on_url(self, target: bytes) -> None:
        self._target += target

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._head is not None:
            return  # a trailer: nothing here needs one
        self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        if self._parser.should_upgrade():
            if self._parser.get_method() == b"CONNECT":
                raise BadRequest("CONNECT is not supported")
            return
        head = self._checked_head()
        self._head = head
        self._sink.on_head(head)

    def on_body(self, piece: bytes) -> None:
        self._pieces.append(piece)
        self._body += len(piece)
        if self._body > self._limits.body:
            raise BodyTooLarge(f"the body is longer than {self._limits.body} bytes")

    def on_message_complete(self) -> None:
        head, pieces = self._head, self._pieces
        self._head = None
        self.inside_message = False
        self._complete += 1
        if head is not None:
            self._sink.on_request(head, pieces[0] if len(pieces) == 1 else b"".join(pieces))

    def _check_unfinished(self) -> None:
        """llhttp does not show an unfinished header, trailer or chunk extension: bound what it may be holding."""
        if self._head is None:
            if self._partial > self._limits.head:
                raise HeadTooLarge(f"the request head is longer than {self._limits.head} bytes")
        elif self._partial - self._body > self._limits.head + _FRAMING_PER_BYTE * self._body:
            raise BadRequest("the body's framing is larger than its content")

    def _check_size(self) -> None:
        """A head that arrived in reads no longer than the limit is not too long; only others are measured."""
        limits, headers = self._limits, self._headers
        if len(headers) > limits.headers:
            raise HeadTooLarge(f"the request has more than {limits.headers} headers")
        if self._partial + self._fed > limits.head:
            size = len(self._target) + sum(len(name) + len(value) + 4 for name, value in headers)
            if size > limits.head:
                raise HeadTooLarge(f"the request head is longer than {limits.head} bytes")

    def _checked_head(self) -> RequestHead:
        self._check_size()
        headers = self._headers
        fields = dict(headers)
        version = self._parser.get_http_version()
        if version not in ("1.0", "1.1"):
            raise BadRequest(f"HTTP/{version} is not spoken here")
        modern = version == "1.1"
        self._check_host(fields, modern)
        length = self._length(fields, modern)
        return RequestHead(
            method=self._parser.get_method(),
            target=self._target,
            path=self._target.partition(b"?")[0],
            headers=headers,
            fields=fields,
            keep_alive=self._parser.should_keep_alive(),
            modern=modern,
            content_length=length,
            expects_continue=modern and fields.get(b"expect", b"").lower() == b"100-continue",
        )

    def _check_host(self, fields: dict[bytes, bytes], modern: bool) -> None:
        if b"host" not in fields:
            if modern:
                raise BadRequest("the Host header is missing")
        elif len(fields) != len(self._headers) and sum(name == b"host" for name, _ in self._headers) > 1:
            raise BadRequest("there is more than one Host header")

    def _length(self, fields: dict[bytes, bytes], modern: bool) -> int | None:
        coding = fields.get(b"transfer-encoding")
        if coding is not None:
            if not modern or coding.strip().lower() != b"chunked":
                raise BadRequest("the only transfer coding accepted is chunked")
            return None
        length = int(fields.get(b"content-length", b"0"))
        if length > self._limits.body:
            raise BodyTooLarge(f"the body is longer than {self._limits.body} bytes")
        return length
