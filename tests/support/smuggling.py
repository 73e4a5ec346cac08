"""Requests that two servers could read in two ways, and odd ones that only one reading is possible of.

Each ambiguous one is followed by `SECOND`, a complete request of its own that a lenient server would find in the first
one's bytes, or behind them. The first, read leniently, is a good chat request too, so that nothing is refused for the
wrong reason. What is valid (`UNUSUAL`) makes exactly one chat request of `CHAT`.
"""

PATH = b"/v1/chat/completions"
CHAT = b'{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":1}'
SECOND_ID = "smuggled"
SECOND = b"POST %b HTTP/1.1\r\nhost: second\r\nx-request-id: %b\r\ncontent-length: %d\r\n\r\n%b" % (
    PATH,
    SECOND_ID.encode(),
    len(CHAT),
    CHAT,
)

LINE = b"POST %b HTTP/1.1\r\n" % PATH
HOST = b"host: x\r\n"
LENGTH = b"content-length: %d\r\n" % len(CHAT)
CHUNKED = b"transfer-encoding: chunked\r\n"
CHUNKS = b"%x\r\n%b\r\n0\r\n\r\n" % (len(CHAT), CHAT)
SIZE = b"%x" % len(CHAT)


def by_length(line: bytes = LINE, *lines: bytes, host: bytes = HOST) -> bytes:
    """A request whose body has an announced length, with header `lines` before it."""
    return line + host + b"".join(lines) + LENGTH + b"\r\n" + CHAT


def with_length(value: bytes) -> bytes:
    """A body of the right length, announced as `value` says."""
    return LINE + HOST + b"content-length:" + value + b"\r\n\r\n" + CHAT


def with_coding(*lines: bytes) -> bytes:
    """A body in chunks, announced by header `lines`."""
    return LINE + HOST + b"".join(lines) + b"\r\n" + CHUNKS


def in_chunks(body: bytes) -> bytes:
    """A request in chunks, whose framing is `body`."""
    return LINE + HOST + CHUNKED + b"\r\n" + body


def on_line(line: bytes) -> bytes:
    """A good request but for its request line."""
    return by_length(line + b"\r\n")


AMBIGUOUS: dict[str, bytes] = {
    # Two announcements of one body
    "length, then coding": LINE + HOST + b"content-length: 4\r\n" + CHUNKED + b"\r\n" + CHUNKS,
    "coding, then length": LINE + HOST + CHUNKED + b"content-length: 4\r\n\r\n" + CHUNKS,
    "coding in capitals, then length": LINE
    + HOST
    + b"TRANSFER-ENCODING: CHUNKED\r\nContent-Length: 4\r\n\r\n"
    + CHUNKS,
    "length zero, then coding": LINE + HOST + b"content-length: 0\r\n" + CHUNKED + b"\r\n" + CHUNKS,
    "coding behind a fold, with length": LINE
    + HOST
    + b"a: b\r\n transfer-encoding: chunked\r\n"
    + LENGTH
    + b"\r\n"
    + CHAT,
    "coding folded, with length": LINE + HOST + b"transfer-encoding:\r\n chunked\r\n" + LENGTH + b"\r\n" + CHUNKS,
    "unknown coding with length": LINE + HOST + b"transfer-encoding: x\r\n" + LENGTH + b"\r\n" + CHAT,
    "coding with a space before its colon, with length": LINE
    + HOST
    + b"transfer-encoding : chunked\r\n"
    + LENGTH
    + b"\r\n"
    + CHAT,
    "coding and length behind an offered upgrade": LINE
    + HOST
    + b"connection: upgrade\r\nupgrade: h2c\r\n"
    + CHUNKED
    + LENGTH
    + b"\r\n"
    + CHUNKS,
    # Content-Length
    "length twice": LINE + HOST + LENGTH + LENGTH + b"\r\n" + CHAT,
    "lengths that differ": LINE + HOST + LENGTH + b"content-length: 0\r\n\r\n" + CHAT,
    "lengths that differ, smaller first": LINE + HOST + b"content-length: 0\r\n" + LENGTH + b"\r\n" + CHAT,
    "lengths in a list": with_length(b" %d, %d" % (len(CHAT), len(CHAT))),
    "lengths in a list without space": with_length(b"%d,0" % len(CHAT)),
    "length with a comma behind it": with_length(b" %d," % len(CHAT)),
    "length empty": with_length(b""),
    "length of spaces": with_length(b"   "),
    "length with plus": with_length(b" +%d" % len(CHAT)),
    "length with minus": with_length(b" -1"),
    "length minus zero": with_length(b" -0"),
    "length in hex": with_length(b" 0x%x" % len(CHAT)),
    "length in hex without prefix": with_length(b" 4a"),
    "length with underscore": with_length(b" 7_2"),
    "length with a space inside": with_length(b" 7 2"),
    "length with a point": with_length(b" %d.0" % len(CHAT)),
    "length with an exponent": with_length(b" 72e0"),
    "length quoted": with_length(b' "%d"' % len(CHAT)),
    "length with a parameter": with_length(b" %d;a=b" % len(CHAT)),
    "length after a vertical tab": with_length(b" \x0b%d" % len(CHAT)),
    "length before a form feed": with_length(b" %d\x0c" % len(CHAT)),
    "length after a no-break space": with_length(b" \xa0%d" % len(CHAT)),
    "length in other digits": with_length(b" \xd9\xa7\xd9\xa2"),
    "length of 2^64 more": with_length(b" %d" % (2**64 + len(CHAT))),
    "length folded": with_length(b"\r\n %d" % len(CHAT)),
    "length with a space before its colon": LINE + HOST + b"content-length : %d\r\n\r\n" % len(CHAT) + CHAT,
    # Transfer-Encoding
    "chunked twice in a list": with_coding(b"transfer-encoding: chunked, chunked\r\n"),
    "chunked in two headers": with_coding(CHUNKED, CHUNKED),
    "gzip, then chunked in a list": with_coding(b"transfer-encoding: gzip, chunked\r\n"),
    "gzip and chunked in two headers": with_coding(b"transfer-encoding: gzip\r\n", CHUNKED),
    "identity and chunked in two headers": with_coding(b"transfer-encoding: identity\r\n", CHUNKED),
    "chunked, then identity": with_coding(CHUNKED, b"transfer-encoding: identity\r\n"),
    "identity": with_coding(b"transfer-encoding: identity\r\n"),
    "chunked after an empty member": with_coding(b"transfer-encoding: , chunked\r\n"),
    "chunked with a comma behind it": with_coding(b"transfer-encoding: chunked,\r\n"),
    "coding empty": with_coding(b"transfer-encoding:\r\n"),
    "coding empty, then chunked": with_coding(b"transfer-encoding:\r\n", CHUNKED),
    "chunked quoted": with_coding(b'transfer-encoding: "chunked"\r\n'),
    "chunked with a parameter": with_coding(b"transfer-encoding: chunked;q=1\r\n"),
    "chunked misspelt": with_coding(b"transfer-encoding: xchunked\r\n"),
    "chunked and more": with_coding(b"transfer-encoding: chunkedx\r\n"),
    "chunked after a vertical tab": with_coding(b"transfer-encoding: \x0bchunked\r\n"),
    "chunked after a form feed": with_coding(b"transfer-encoding: \x0cchunked\r\n"),
    "chunked after a no-break space": with_coding(b"transfer-encoding: \xa0chunked\r\n"),
    "chunked before a tab": with_coding(b"transfer-encoding: chunked\t\r\n"),
    "chunked before NUL": with_coding(b"transfer-encoding: chunked\0\r\n"),
    "chunked folded": with_coding(b"transfer-encoding:\r\n\tchunked\r\n"),
    "chunked behind a bare CR": with_coding(b"a: b\rtransfer-encoding: chunked\r\n"),
    "chunked behind a bare LF": with_coding(b"a: b\ntransfer-encoding: chunked\r\n"),
    "chunked from an old client": b"POST %b HTTP/1.0\r\n" % PATH + HOST + CHUNKED + b"\r\n" + CHUNKS,
    # Line ends
    "bare LF before the request line": b"\n" + by_length(),
    "bare CR before the request line": b"\r" + by_length(),
    "bare LF behind an empty line": b"\r\n\n" + by_length(),
    "bare LF ends the request line": by_length(LINE.replace(b"\r\n", b"\n")),
    "bare CR ends the request line": by_length(LINE.replace(b"\r\n", b"\r")),
    "two CR end the request line": by_length(LINE.replace(b"\r\n", b"\r\r\n")),
    "bare CR in the target": on_line(b"POST %b?a\rb HTTP/1.1" % PATH),
    "bare LF ends a header": by_length(LINE, b"a: b\n"),
    "bare CR ends a header": by_length(LINE, b"a: b\r"),
    "bare CR in a header": by_length(LINE, b"a: b\rc\r\n"),
    "bare CR in a name": by_length(LINE, b"a\rb: c\r\n"),
    "two CR end a header": by_length(LINE, b"a: b\r\r\n"),
    "bare LF ends the head": LINE + HOST + LENGTH + b"\n" + CHAT,
    "bare LF twice ends the head": LINE + HOST + LENGTH[:-2] + b"\n\n" + CHAT,
    "bare CR ends the head": LINE + HOST + LENGTH + b"\r" + CHAT,
    # NUL and other control characters
    "NUL before the request line": b"\0" + by_length(),
    "NUL in the method": on_line(b"PO\0ST %b HTTP/1.1" % PATH),
    "NUL in the target": on_line(b"POST %b?\0 HTTP/1.1" % PATH),
    "NUL in a name": by_length(LINE, b"a\0: b\r\n"),
    "NUL in a value": by_length(LINE, b"a: b\0c\r\n"),
    "DEL in a value": by_length(LINE, b"a: \x7f\r\n"),
    "a control character in a value": by_length(LINE, b"a: \x01\r\n"),
    # Names of headers
    "a space before the colon": by_length(LINE, b"a : b\r\n"),
    "a tab before the colon": by_length(LINE, b"a\t: b\r\n"),
    "a space before the first name": by_length(LINE, host=b" host: x\r\n"),
    "a space before a name": by_length(LINE, b" a: b\r\n"),
    "a folded value": by_length(LINE, b"a: b\r\n c\r\n"),
    "a value folded by a tab": by_length(LINE, b"a: b\r\n\tc\r\n"),
    "no name": by_length(LINE, b": b\r\n"),
    "no colon": by_length(LINE, b"ab\r\n"),
    "a space in a name": by_length(LINE, b"a b: c\r\n"),
    "a bracket in a name": by_length(LINE, b"a(b): c\r\n"),
    "a quote in a name": by_length(LINE, b'a"b: c\r\n'),
    "a slash in a name": by_length(LINE, b"a/b: c\r\n"),
    "a byte beyond ASCII in a name": by_length(LINE, b"a\xff: c\r\n"),
    # Host
    "no host": by_length(host=b""),
    "two hosts": by_length(host=HOST + b"host: y\r\n"),
    "the same host twice": by_length(host=HOST + HOST),
    "two hosts in a list": by_length(host=b"host: x y\r\n"),
    "a path in the host": by_length(host=b"host: x/y\r\n"),
    "a user in the host": by_length(host=b"host: u@x\r\n"),
    "a host beyond ASCII": by_length(host=b"host: x\xff\r\n"),
    # Request lines
    "two spaces before the target": on_line(b"POST  %b HTTP/1.1" % PATH),
    "two spaces before the version": on_line(b"POST %b  HTTP/1.1" % PATH),
    "a space behind the version": on_line(b"POST %b HTTP/1.1 " % PATH),
    "a space before the method": on_line(b" POST %b HTTP/1.1" % PATH),
    "a tab before the target": on_line(b"POST\t%b HTTP/1.1" % PATH),
    "a tab before the version": on_line(b"POST %b\tHTTP/1.1" % PATH),
    "a vertical tab before the version": on_line(b"POST %b\x0bHTTP/1.1" % PATH),
    "a space in the target": on_line(b"POST %b /x HTTP/1.1" % PATH),
    "no version": on_line(b"POST %b" % PATH),
    "no target": on_line(b"POST HTTP/1.1"),
    "HTTP/0.9": on_line(b"POST %b HTTP/0.9" % PATH),
    "HTTP/1.2": on_line(b"POST %b HTTP/1.2" % PATH),
    "HTTP/2.0": on_line(b"POST %b HTTP/2.0" % PATH),
    "HTTP/1": on_line(b"POST %b HTTP/1" % PATH),
    "HTTP/1.10": on_line(b"POST %b HTTP/1.10" % PATH),
    "HTTP/01.1": on_line(b"POST %b HTTP/01.1" % PATH),
    "HTTP/1,1": on_line(b"POST %b HTTP/1,1" % PATH),
    "version in small letters": on_line(b"POST %b http/1.1" % PATH),
    "another protocol": on_line(b"POST %b RTSP/1.0" % PATH),
    "yet another protocol": on_line(b"SOURCE %b ICE/1.0" % PATH),
    "method in small letters": on_line(b"post %b HTTP/1.1" % PATH),
    "a method nobody knows": on_line(b"POSTPOST %b HTTP/1.1" % PATH),
    "a method that is no token": on_line(b"P(ST %b HTTP/1.1" % PATH),
    "no method": on_line(b" %b HTTP/1.1" % PATH),
    # Targets
    "a target without a slash": on_line(b"POST v1/chat/completions HTTP/1.1"),
    "a target that is an authority": on_line(b"POST x:80 HTTP/1.1"),
    "* for a POST": on_line(b"POST * HTTP/1.1"),
    "a fragment": on_line(b"POST %b#x HTTP/1.1" % PATH),
    "a target beyond ASCII": on_line(b"POST %b?\xff HTTP/1.1" % PATH),
    "a backslash in the target": on_line(b"POST \\v1\\chat HTTP/1.1"),
    "another scheme": on_line(b"POST ftp://x%b HTTP/1.1" % PATH),
    "an absolute target without a host": on_line(b"POST http://%b HTTP/1.1" % PATH),
    "an absolute target with a user": on_line(b"POST http://u@x%b HTTP/1.1" % PATH),
    "an absolute target, and no host header": by_length(b"POST http://x%b HTTP/1.1\r\n" % PATH, host=b""),
    # Other protocols
    "CONNECT": b"CONNECT x:80 HTTP/1.1\r\nhost: x:80\r\n\r\n",
    "CONNECT with a path": b"CONNECT %b HTTP/1.1\r\n" % PATH + HOST + b"\r\n",
    "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "the preface of HTTP/2, with headers": b"PRI * HTTP/1.1\r\n" + HOST + b"\r\nSM\r\n\r\n",
    "a greeting of TLS": b"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03\r\n\r\n",
    # Sizes of chunks
    "no chunk size": in_chunks(b"\r\n" + CHAT + b"\r\n0\r\n\r\n"),
    "chunk size with plus": in_chunks(b"+" + CHUNKS),
    "chunk size with minus": in_chunks(b"-" + CHUNKS),
    "chunk size with 0x": in_chunks(b"0x" + CHUNKS),
    "chunk size behind a space": in_chunks(b" " + CHUNKS),
    "chunk size before a space": in_chunks(SIZE + b" \r\n" + CHAT + b"\r\n0\r\n\r\n"),
    "chunk size before a tab": in_chunks(SIZE + b"\t\r\n" + CHAT + b"\r\n0\r\n\r\n"),
    "chunk size with underscore": in_chunks(b"4_8\r\n" + CHAT + b"\r\n0\r\n\r\n"),
    "chunk size with a letter": in_chunks(b"4g\r\n" + CHAT + b"\r\n0\r\n\r\n"),
    "chunk size of 2^64 more": in_chunks(b"1" + SIZE.rjust(16, b"0") + b"\r\n" + CHAT + b"\r\n0\r\n\r\n"),
    "chunk size of 2^128 more": in_chunks(b"1" + SIZE.rjust(32, b"0") + b"\r\n" + CHAT + b"\r\n0\r\n\r\n"),
    "chunk size ended by bare LF": in_chunks(SIZE + b"\n" + CHAT + b"\r\n0\r\n\r\n"),
    "chunk size ended by bare CR": in_chunks(SIZE + b"\r" + CHAT + b"\r\n0\r\n\r\n"),
    "chunk size ended by two CR": in_chunks(SIZE + b"\r\r\n" + CHAT + b"\r\n0\r\n\r\n"),
    "chunk without its end": in_chunks(SIZE + b"\r\n" + CHAT + b"0\r\n\r\n"),
    "chunk ended by bare LF": in_chunks(SIZE + b"\r\n" + CHAT + b"\n0\r\n\r\n"),
    "chunk ended by bare CR": in_chunks(SIZE + b"\r\n" + CHAT + b"\r0\r\n\r\n"),
    "chunk longer than its size": in_chunks(b"1\r\n" + CHAT + b"\r\n0\r\n\r\n"),
    "last chunk ended by bare LF": in_chunks(SIZE + b"\r\n" + CHAT + b"\r\n0\n\r\n"),
    "message ended by bare LF": in_chunks(SIZE + b"\r\n" + CHAT + b"\r\n0\r\n\n"),
    "message ended by bare CR": in_chunks(SIZE + b"\r\n" + CHAT + b"\r\n0\r\n\r"),
    # Extensions of chunks
    "extension ended by bare LF": in_chunks(SIZE + b";a=b\n" + CHAT + b"\r\n0\r\n\r\n"),
    "extension with bare CR": in_chunks(SIZE + b";a\rb\r\n" + CHAT + b"\r\n0\r\n\r\n"),
    "extension with bare LF in quotes": in_chunks(SIZE + b';a="\n"\r\n' + CHAT + b"\r\n0\r\n\r\n"),
    "extension with an open quote": in_chunks(SIZE + b';a="\r\n' + CHAT + b'"\r\n0\r\n\r\n'),
    "extension with NUL": in_chunks(SIZE + b";a\0\r\n" + CHAT + b"\r\n0\r\n\r\n"),
    "extension with a space": in_chunks(SIZE + b";a b\r\n" + CHAT + b"\r\n0\r\n\r\n"),
    "extension of the last chunk ended by bare LF": in_chunks(SIZE + b"\r\n" + CHAT + b"\r\n0;a\n\r\n"),
    "extension without end": in_chunks(SIZE + b";a=" + b"b" * 300_000 + b"\r\n" + CHAT + b"\r\n0\r\n\r\n"),
    # Trailers
    "length in a trailer": in_chunks(CHUNKS[:-2] + LENGTH + b"\r\n"),
    "coding in a trailer": in_chunks(CHUNKS[:-2] + CHUNKED + b"\r\n"),
    "connection in a trailer": in_chunks(CHUNKS[:-2] + b"Connection: close\r\n\r\n"),
    "an upgrade offered in a trailer": in_chunks(CHUNKS[:-2] + b"connection: upgrade\r\nupgrade: h2c\r\n\r\n"),
    "trailer ended by bare LF": in_chunks(CHUNKS[:-2] + b"a: b\n\r\n"),
    "trailer with bare CR": in_chunks(CHUNKS[:-2] + b"a: b\rc\r\n\r\n"),
    "trailer with NUL": in_chunks(CHUNKS[:-2] + b"a: \0\r\n\r\n"),
    "trailer with a space before the colon": in_chunks(CHUNKS[:-2] + b"a : b\r\n\r\n"),
    "trailer behind a space": in_chunks(CHUNKS[:-2] + b" a: b\r\n\r\n"),
    "trailer folded": in_chunks(CHUNKS[:-2] + b"a: b\r\n c\r\n\r\n"),
    "trailer without a name": in_chunks(CHUNKS[:-2] + b": b\r\n\r\n"),
    "trailer without a colon": in_chunks(CHUNKS[:-2] + b"ab\r\n\r\n"),
    "trailer without end": in_chunks(CHUNKS[:-2] + b"a: " + b"b" * 300_000 + b"\r\n\r\n"),
}

UNUSUAL: dict[str, bytes] = {
    "coding in mixed case": with_coding(b"Transfer-Encoding: cHuNkEd\r\n"),
    "coding behind spaces and a tab": with_coding(b"transfer-encoding: \t chunked\r\n"),
    "one byte a chunk": in_chunks(b"".join(b"1\r\n%c\r\n" % byte for byte in CHAT) + b"0\r\n\r\n"),
    "chunk size in capitals": in_chunks(SIZE.upper() + CHUNKS[len(SIZE) :]),
    "chunk size with leading zeros": in_chunks(b"000" + CHUNKS),
    "last chunk of several zeros": in_chunks(CHUNKS[:-5] + b"000\r\n\r\n"),
    "an extension": in_chunks(SIZE + b";a=b\r\n" + CHAT + b"\r\n0\r\n\r\n"),
    "extensions, one of them quoted": in_chunks(SIZE + b';a;b="c d"\r\n' + CHAT + b"\r\n0;f\r\n\r\n"),
    "a trailer": in_chunks(CHUNKS[:-2] + b"a: b\r\n\r\n"),
    "a host in a trailer": in_chunks(CHUNKS[:-2] + b"host: y\r\n\r\n"),
    "length with leading zeros": with_length(b" 000%d" % len(CHAT)),
    "length between spaces and tabs": with_length(b"\t %d \t" % len(CHAT)),
    "no space behind the colon": by_length(LINE, b"a:b\r\n"),
    "spaces around a value": by_length(LINE, b"a: \t b \t\r\n"),
    "an empty value": by_length(LINE, b"a:\r\n"),
    "a value beyond ASCII": by_length(LINE, b"a: \xc3\xa9\r\n"),
    "a header repeated": by_length(LINE, b"a: b\r\na: c\r\nA: d, e\r\n"),
    "all characters of a token": by_length(LINE, b"!#$%&'*+-.^_`|~09azAZ: b\r\n"),
    "names in capitals": by_length(LINE).replace(b"content-length", b"CONTENT-LENGTH").replace(b"host", b"HOST"),
    "an empty line before the request line": b"\r\n" + by_length(),
    "empty lines before the request line": b"\r\n\r\n\r\n" + by_length(),
    "a query": on_line(b"POST %b?a=b&c={d|e}^`[f] HTTP/1.1" % PATH),
    "an absolute target": on_line(b"POST http://x%b HTTP/1.1" % PATH),
    "an absolute target of another host": on_line(b"POST HTTPS://other.example:8443%b?a HTTP/1.1" % PATH),
    "an empty host": by_length(host=b"host:\r\n"),
    "a host by its IPv6 address": by_length(host=b"host: [::1]:8080\r\n"),
    "a host before spaces": by_length(host=b"host: x \t\r\n"),
    "an upgrade offered": by_length(
        LINE, b"connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AA\r\n"
    ),
    "an upgrade offered, in chunks": with_coding(b"connection: upgrade\r\nupgrade: websocket\r\n", CHUNKED),
    "an old client": b"POST %b HTTP/1.0\r\n" % PATH + b"connection: keep-alive\r\n" + LENGTH + b"\r\n" + CHAT,
}
