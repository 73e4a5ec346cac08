"""Answers of nodes that could be read in two ways or are not HTTP/1.1, and odd ones with a single reading."""

OK = b"HTTP/1.1 200 OK\r\n"
BODY = b'{"answer":true}'
LENGTH = b"content-length: %d\r\n" % len(BODY)
CHUNKED = b"transfer-encoding: chunked\r\n"
CHUNKS = b"%x\r\n%b\r\n0\r\n\r\n" % (len(BODY), BODY)
SIZE = b"%x" % len(BODY)


def by_length(line: bytes = OK, *lines: bytes) -> bytes:
    """An answer of announced length, with header `lines` before it."""
    return line + b"".join(lines) + LENGTH + b"\r\n" + BODY


def with_length(value: bytes) -> bytes:
    return OK + b"content-length:" + value + b"\r\n\r\n" + BODY


def with_coding(*lines: bytes, line: bytes = OK) -> bytes:
    return line + b"".join(lines) + b"\r\n" + CHUNKS


def in_chunks(body: bytes) -> bytes:
    return OK + CHUNKED + b"\r\n" + body


BROKEN: dict[str, bytes] = {
    # Where the body ends
    "length and coding": OK + LENGTH + CHUNKED + b"\r\n" + CHUNKS,
    "coding and length": OK + CHUNKED + LENGTH + b"\r\n" + CHUNKS,
    "length twice": by_length(OK, LENGTH),
    "lengths that differ": by_length(OK, b"content-length: 1\r\n"),
    "lengths in a list": with_length(b" %d, %d" % (len(BODY), len(BODY))),
    "length empty": with_length(b""),
    "length with plus": with_length(b" +%d" % len(BODY)),
    "length with minus": with_length(b" -%d" % len(BODY)),
    "length in hex": with_length(b" 0x%x" % len(BODY)),
    "length of 2^64 more": with_length(b" %d" % (2**64 + len(BODY))),
    "another coding": with_coding(b"transfer-encoding: gzip\r\n"),
    "another coding, then chunked": with_coding(b"transfer-encoding: gzip, chunked\r\n"),
    "another coding, then chunked, in two headers": with_coding(b"transfer-encoding: gzip\r\n", CHUNKED),
    "chunked, then another coding": with_coding(b"transfer-encoding: chunked, gzip\r\n"),
    "chunked twice": with_coding(b"transfer-encoding: chunked, chunked\r\n"),
    "chunked in two headers": with_coding(CHUNKED, CHUNKED),
    "identity": OK + b"transfer-encoding: identity\r\n" + b"\r\n" + BODY,
    "chunked misspelt": with_coding(b"transfer-encoding: xchunked\r\n"),
    "chunked after a vertical tab": with_coding(b"transfer-encoding: \x0bchunked\r\n"),
    "coding empty": with_coding(b"transfer-encoding:\r\n"),
    "coding of an old server": with_coding(CHUNKED, line=b"HTTP/1.0 200 OK\r\n"),
    "coding of an old server, kept alive": with_coding(
        CHUNKED, b"connection: keep-alive\r\n", line=b"HTTP/1.0 200 OK\r\n"
    ),
    # Status lines
    "HTTP/2.0": by_length(b"HTTP/2.0 200 OK\r\n"),
    "HTTP/0.9": by_length(b"HTTP/0.9 200 OK\r\n"),
    "two spaces": by_length(b"HTTP/1.1  200 OK\r\n"),
    "a status of two digits": by_length(b"HTTP/1.1 20 OK\r\n"),
    "a status of four digits": by_length(b"HTTP/1.1 2000 OK\r\n"),
    "a status of letters": by_length(b"HTTP/1.1 2x0 OK\r\n"),
    "status 0": by_length(b"HTTP/1.1 000 OK\r\n"),
    "status 99": by_length(b"HTTP/1.1 099 OK\r\n"),
    "status 600": by_length(b"HTTP/1.1 600 OK\r\n"),
    "status 999": by_length(b"HTTP/1.1 999 OK\r\n"),
    "another protocol": b"SSH-2.0-OpenSSH_9.6\r\n" * 3,
    "bare LF ends the status line": by_length(b"HTTP/1.1 200 OK\n"),
    "bare CR in the status line": by_length(b"HTTP/1.1 200 O\rK\r\n"),
    # Headers
    "bare LF ends a header": by_length(OK, b"a: b\n"),
    "bare CR in a header": by_length(OK, b"a: b\rc: d\r\n"),
    "NUL in a header": by_length(OK, b"a: \0\r\n"),
    "a folded header": by_length(OK, b"a: b\r\n c\r\n"),
    "a space before the colon": by_length(OK, b"a : b\r\n"),
    "a space before the first name": by_length(OK, b" a: b\r\n"),
    "no name": by_length(OK, b": b\r\n"),
    "no colon": by_length(OK, b"ab\r\n"),
    "bare LF ends the head": OK + LENGTH + b"\n" + BODY,
    "a head without end": OK + b"a: b\r\n" * 50_000,
    # Chunks
    "chunk size in hex notation": in_chunks(b"0x" + CHUNKS),
    "chunk size with minus": in_chunks(b"-" + CHUNKS),
    "chunk size before a space": in_chunks(SIZE + b" \r\n" + BODY + b"\r\n0\r\n\r\n"),
    "chunk size of 2^64 more": in_chunks(b"1" + SIZE.rjust(16, b"0") + b"\r\n" + BODY + b"\r\n0\r\n\r\n"),
    "chunk size ended by bare LF": in_chunks(SIZE + b"\n" + BODY + b"\r\n0\r\n\r\n"),
    "chunk ended by bare LF": in_chunks(SIZE + b"\r\n" + BODY + b"\n0\r\n\r\n"),
    "chunk without its end": in_chunks(SIZE + b"\r\n" + BODY + b"0\r\n\r\n"),
    "message ended by bare LF": in_chunks(CHUNKS[:-2] + b"\n"),
    "length in a trailer": in_chunks(CHUNKS[:-2] + LENGTH + b"\r\n"),
    "an interim answer with a body": by_length(b"HTTP/1.1 100 Continue\r\n") + by_length(),
    "a switch of protocols": b"HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n" + by_length(),
    "a switch of protocols without a name": b"HTTP/1.1 101 Switching\r\n\r\n" + by_length(),
}

SURPLUS: dict[str, bytes] = {
    "two answers": by_length() + by_length(),
    "an answer and a byte": by_length() + b"x",
    "chunks and a byte": in_chunks(CHUNKS) + b"x",
    "a body with no content": by_length(b"HTTP/1.1 204 No Content\r\n"),
    "chunks with no content": with_coding(CHUNKED, line=b"HTTP/1.1 204 No Content\r\n"),
    "a body that was not modified": by_length(b"HTTP/1.1 304 Not Modified\r\n"),
}
"""A whole answer and more: the answer counts, and what follows it closes the connection."""

ODD: dict[str, bytes] = {
    "coding in mixed case": with_coding(b"Transfer-Encoding: ChUnKeD\r\n"),
    "coding between spaces": with_coding(b"transfer-encoding:  \tchunked \r\n"),
    "an extension and a trailer": in_chunks(SIZE + b";a=b\r\n" + BODY + b"\r\n0;c\r\nd: e\r\n\r\n"),
    "chunk size with leading zeros": in_chunks(b"000" + CHUNKS),
    "one byte a chunk": in_chunks(b"".join(b"1\r\n%c\r\n" % byte for byte in BODY) + b"0\r\n\r\n"),
    "no reason": by_length(b"HTTP/1.1 200 \r\n"),
    "no reason, no space": by_length(b"HTTP/1.1 200\r\n"),
    "a reason beyond ASCII": by_length(b"HTTP/1.1 200 \xc3\xa9\r\n"),
    "interim answers first": b"HTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 102 Busy\r\n\r\n" + by_length(),
    "an old server": by_length(b"HTTP/1.0 200 OK\r\n"),
    "an old server that keeps alive": by_length(b"HTTP/1.0 200 OK\r\n", b"connection: keep-alive\r\n"),
    "an offered upgrade": by_length(OK, b"connection: upgrade\r\nupgrade: h2c\r\n"),
    "a header repeated": by_length(OK, b"a: b\r\na: c\r\n"),
    "a value beyond ASCII": by_length(OK, b"a: \xff\r\n"),
    "length with leading zeros": with_length(b" 000%d" % len(BODY)),
}
