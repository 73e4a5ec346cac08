"""Heads of requests and responses as values, and how large they may be."""

import msgspec


class HttpLimits(msgspec.Struct, frozen=True):
    """Sizes in bytes beyond which a message is refused; `headers` is a count."""

    head: int = 16 * 1024
    headers: int = 100
    body: int = 64 * 1024 * 1024


class RequestHead(msgspec.Struct, frozen=True, kw_only=True):
    """A request up to its body, but for its length: heads that differ in nothing else are one value.

    `target` is in origin form (or `*`), also when the client sent an absolute one, and `path` is it without its query;
    `fields` is for look-up, names in lower case; `onward` are the header lines that travel on; `expects_continue` tells
    that the client waits for a 100.
    """

    method: bytes
    target: bytes
    path: bytes
    fields: dict[bytes, bytes]
    onward: bytes
    keep_alive: bool
    modern: bool
    expects_continue: bool


class ResponseHead(msgspec.Struct, frozen=True):
    """Status and headers of a response, but for its length: heads that differ in nothing else are one value.

    `lines` are the status line and the headers that travel on, `fields` is for look-up, names in lower case.
    `until_close` tells that only the end of the connection ends the body. A coding that is undone is not shown.
    """

    status: int
    lines: bytes
    fields: dict[bytes, bytes]
    is_event_stream: bool
    until_close: bool
