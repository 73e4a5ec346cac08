"""Reading requests from a client's bytes.

llhttp (through httptools) does the tokenising and refuses what request smuggling lives on: a length beside a transfer
coding, repeated, signed or empty lengths, bare CR or LF, NUL, a space before the colon, odd chunk sizes. It is given
the bytes in pieces that end where a head or a message may end, so that a message always begins with a piece and its
sizes are known. Hence its request line can be read here, before llhttp sees it, which takes lines it should not. What
else RFC 9112 forbids is refused behind each head: codings other than `chunked`, an odd or repeated Host, oversize.
"""

import re
from typing import Final, Protocol

from httptools import HttpParserCallbackError, HttpParserError, HttpParserUpgrade, HttpRequestParser

from pointsman.brain.model.errors import BadRequest, BodyTooLarge, HeadTooLarge, PointsmanError
from pointsman.wire.http1.behalf import NOBODY, onward
from pointsman.wire.http1.ends import Chunks, EmptyLine
from pointsman.wire.http1.lines import Headers
from pointsman.wire.http1.messages import HttpLimits, RequestHead
from pointsman.wire.http1.repeated import LENGTH_DIGITS, Repeated

_FRAMING_PER_BYTE: Final = 8
"""Bytes of framing a body byte may cost; a chunk of one byte costs five."""

_HOST = rb"[A-Za-z0-9._~!$&'()*+,;=%:\[\]-]"
_URI = rb"[!$-;=?-\[\]-~]"  # visible ASCII without " # < > and the backslash
_LINE: Final = re.compile(
    rb"(?:\r\n)*([A-Z-]+) (?:(/%b*|\*)|(?i:https?)://%b+([/?]%b*)?) HTTP/1\.([01])\r\n" % (_URI, _HOST, _URI)
)
"""Method; path and query, or `*`; what follows the authority of an absolute target; minor version."""
_AUTHORITY = re.compile(_HOST + rb"*[ \t]*")
_UNFINISHED_LINE = re.compile(rb"(?:\r\n)*([^\r\n]*\r?)")


class RequestSink(Protocol):
    """Who is told. An exception raised from `on_head` ends the reading and comes out of `feed`.

    `length` is that of the body, None when it comes in chunks.
    """

    def on_head(self, head: RequestHead, length: int | None) -> None: ...

    def on_request(self, head: RequestHead, body: bytes) -> None: ...


class RequestReader:
    """Feeds bytes, calls `sink` once per head and once per whole request, in order.

    `inside_message` tells whether a request has begun and is not complete. What follows a request that closes the
    connection is not read. Set `peer` before the first byte, if it is anybody.
    """

    __deletable__ = ("_parser", "_sink")  # mypyc wants to know
    __slots__ = (
        "_body",
        "_chunks",
        "_closing",
        "_first",
        "_head",
        "_headers",
        "_host",
        "_known",
        "_left",
        "_length",
        "_limits",
        "_line",
        "_lines",
        "_more",
        "_parser",
        "_sink",
        "_size",
        "_start",
        "inside_message",
        "peer",
    )

    def __init__(self, sink: RequestSink, limits: HttpLimits) -> None:
        self._limits = limits
        self._sink = sink
        self._parser = HttpRequestParser(self)
        self._line: re.Match[bytes] | None = None
        self._head: RequestHead | None = None
        self._headers: Headers = []
        self._first = b""
        self._more = bytearray()
        self._body = self._size = self._left = 0
        self._start = b""
        self._lines = EmptyLine()
        self._chunks: Chunks | None = None
        self._host = b""
        self._known = Repeated[RequestHead]()
        self._length: int | None = None
        self._closing = False
        self.inside_message = False
        self.peer = NOBODY

    def feed(self, data: bytes) -> None:
        """Take the next bytes. Raises a ClientError (BadRequest, HeadTooLarge, BodyTooLarge or the sink's own).

        After an error the connection is beyond repair: answer and close.
        """
        head = self._known.head
        if head is None or self._size or self._head is not None or self._closing:
            self._read(data)
            return
        at = self._known.body_at(data)
        length = len(data) - at
        if at < 0 or length > self._limits.body:
            self._read(data)
            return
        self._sink.on_head(head, length)
        self._sink.on_request(head, data[at:])

    def _read(self, data: bytes) -> None:
        at = 0
        while at < len(data) and not self._closing:
            if self._left:
                end = at + self._left
                self._parse(data[at:end])
            else:
                end = (self._chunks or self._lines).end(data, at)
                self._take(data[at:end])
            at = end

    def close(self) -> None:
        """Nothing more is fed: break the cycles with parser and sink, which else would wait for the collector."""
        del self._parser, self._sink

    @property
    def inside_body(self) -> bool:
        """Whether a head is complete and its body is not."""
        return self._head is not None

    # Pieces

    def _take(self, piece: bytes) -> None:
        """Take bytes of a head, or of a body in chunks."""
        begins = self._head is None and not self._size
        self._size += len(piece)
        if self._head is None:
            if self._size > self._limits.head:
                raise HeadTooLarge(f"the request head is longer than {self._limits.head} bytes")
            if self._line is None:
                self._read_line(piece)
        self._parse(piece)
        head = self._head
        if head is None:
            return
        self._check_framing()
        if begins and head.keep_alive and not head.expects_continue and len(piece) + LENGTH_DIGITS <= self._limits.head:
            self._known.remember(piece, head)

    def _read_line(self, piece: bytes) -> None:
        """Read the request line, once it is whole: llhttp takes several spaces, other protocols, bare CR or LF."""
        start = self._start + piece
        self._line = _LINE.match(start)
        if self._line is None:
            unfinished = _UNFINISHED_LINE.fullmatch(start)
            if unfinished is None:
                raise BadRequest("not a valid HTTP/1.1 request line")
            self._start = unfinished[1]

    def _parse(self, piece: bytes) -> None:
        try:
            self._parser.feed_data(piece)
            return
        except HttpParserUpgrade:
            pass
        except HttpParserCallbackError as error:
            cause = error.__context__
            if isinstance(cause, PointsmanError):
                raise cause from None
            raise
        except HttpParserError as error:
            raise BadRequest(f"not a valid HTTP/1.1 request: {error}") from None
        self._decline_upgrade()  # not inside `except`, which would take the place of a callback error's context

    def _decline_upgrade(self) -> None:
        """Serve a request that offers an upgrade (h2c, from Java clients) as if it had not.

        llhttp stops behind such a head, so a fresh parser is given the head again without the offer.
        """
        assert self._line is not None
        lines = [b"%b: %b\r\n" % header for header in self._headers if header[0] != b"upgrade"]
        self._parser = HttpRequestParser(self)
        self._parse(b"%b%b\r\n" % (self._line[0], b"".join(lines)))

    def _check_framing(self) -> None:
        """Bound what is no body: llhttp does not show chunk extensions and unfinished trailers, however long."""
        if not self._left and self._size - self._body > self._limits.head + _FRAMING_PER_BYTE * self._body:
            raise BadRequest("the body's framing is larger than its content")

    # llhttp's callbacks

    def on_message_begin(self) -> None:
        if not self._size:  # inside a piece: llhttp and we disagree about where the last message ended
            raise BadRequest("not a valid HTTP/1.1 request")
        self._headers = []
        self.inside_message = True

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._head is not None:  # a trailer: nothing here needs one, but llhttp heeds this one
            if name.lower() == b"connection":
                raise BadRequest("a trailer cannot be about the connection")
            return
        self._headers.append((name.lower(), value.rstrip(b" \t")))  # llhttp leaves what is behind a value

    def on_headers_complete(self) -> None:
        if self._parser.should_upgrade():
            if self._parser.get_method() == b"CONNECT":
                raise BadRequest("CONNECT is not supported")
            return
        head = self._checked_head()
        self._head = head
        self._size = 0
        self._left = self._length or 0
        if self._length is None:
            self._chunks = Chunks()
        self._sink.on_head(head, self._length)

    def on_body(self, piece: bytes) -> None:
        if self._first:
            self._more += piece  # not a list: of pieces of two bytes it would take twenty times their size
        else:
            self._first = piece
        if self._left:
            self._left -= len(piece)
            return
        self._body += len(piece)
        if self._body > self._limits.body:
            raise BodyTooLarge(f"the body is longer than {self._limits.body} bytes")

    def on_message_complete(self) -> None:
        head, body = self._head, self._first
        if head is None:
            return  # the head is read again without its offer of an upgrade
        if self._chunks is not None:
            self._check_framing()
            self._chunks = None
        if self._more:
            body += self._more
            self._more = bytearray()
        self._line = self._head = None
        self._first = self._start = b""
        self._body = self._size = 0
        self._closing = not head.keep_alive
        self.inside_message = False
        self._sink.on_request(head, body)

    def _checked_head(self) -> RequestHead:
        headers, line = self._headers, self._line
        if line is None:
            raise BadRequest("not a valid HTTP/1.1 request line")
        if len(headers) > self._limits.headers:
            raise HeadTooLarge(f"the request has more than {self._limits.headers} headers")
        fields = dict(headers)
        if len(fields) != len(headers):
            self._check_repeated()
        method, target, rest, minor = line.groups()
        if target is None or target == b"*":
            target = _origin_form(method, target, rest)
        modern = minor == b"1"
        self._check_host(fields, modern)
        self._length = self._checked_length(fields, modern)
        return RequestHead(
            method=method,
            target=target,
            path=target.partition(b"?")[0],
            fields=fields,
            onward=onward(headers, self.peer),
            keep_alive=self._parser.should_keep_alive(),
            modern=modern,
            expects_continue=modern and fields.get(b"expect", b"").strip().lower() == b"100-continue",
        )

    def _check_repeated(self) -> None:
        """Of these there is one: a look-up in `fields` finds the last only, and a node or llhttp may take another."""
        names = [name for name, _ in self._headers]
        for name in (b"host", b"transfer-encoding", b"content-length"):
            if names.count(name) > 1:
                raise BadRequest(f"there is more than one {name.decode()} header")

    def _check_host(self, fields: dict[bytes, bytes], modern: bool) -> None:
        host = fields.get(b"host")
        if host is None:
            if modern:
                raise BadRequest("the Host header is missing")
        elif host != self._host:  # the usual one is checked once for a connection
            if not _AUTHORITY.fullmatch(host):
                raise BadRequest("the Host header is not a host and port")
            self._host = host

    def _checked_length(self, fields: dict[bytes, bytes], modern: bool) -> int | None:
        coding = fields.get(b"transfer-encoding")
        if coding is not None:
            if not modern or coding.lower() != b"chunked":
                raise BadRequest("the only transfer coding accepted is chunked")
            return None
        length = int(fields.pop(b"content-length", b"0"))
        if length > self._limits.body:
            raise BodyTooLarge(f"the body is longer than {self._limits.body} bytes")
        return length


def _origin_form(method: bytes, target: bytes | None, rest: bytes | None) -> bytes:
    """The target without scheme and host, of which `rest` is left; `*` is for OPTIONS alone."""
    if method == b"OPTIONS" and rest is None:
        return b"*"
    if target is not None:
        raise BadRequest("only OPTIONS has * for a target")
    rest = rest or b"/"
    return rest if rest.startswith(b"/") else b"/" + rest
