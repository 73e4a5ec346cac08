"""Heads of requests and responses as values, and how large they may be.

They are read at every message, often, so they are classes that the compiler takes. Nothing changes them.
"""

from typing import Final


class HttpLimits:
    """Sizes in bytes beyond which a message is refused; `headers` is a count."""

    __slots__ = ("body", "head", "headers")

    def __init__(self, head: int = 16 * 1024, headers: int = 100, body: int = 64 * 1024 * 1024) -> None:
        self.head: Final = head
        self.headers: Final = headers
        self.body: Final = body


class RequestHead:
    """A request up to its body, but for its length: heads that differ in nothing else are one value.

    `target` is in origin form (or `*`), also when the client sent an absolute one, and `path` is it without its query;
    `fields` is for look-up, names in lower case; `onward` are the header lines that travel on; `expects_continue` tells
    that the client waits for a 100.
    """

    __slots__ = ("expects_continue", "fields", "keep_alive", "method", "modern", "onward", "path", "target")

    def __init__(
        self,
        *,
        method: bytes,
        target: bytes,
        path: bytes,
        fields: dict[bytes, bytes],
        onward: bytes,
        keep_alive: bool,
        modern: bool,
        expects_continue: bool,
    ) -> None:
        self.method: Final = method
        self.target: Final = target
        self.path: Final = path
        self.fields: Final = fields
        self.onward: Final = onward
        self.keep_alive: Final = keep_alive
        self.modern: Final = modern
        self.expects_continue: Final = expects_continue

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RequestHead) and self._parts() == other._parts()

    def _parts(self) -> tuple[object, ...]:
        what = self.method, self.target, self.path, self.fields, self.onward
        return *what, self.keep_alive, self.modern, self.expects_continue

    def aimed_at(self, target: bytes) -> "RequestHead":
        """The same head with another target."""
        return RequestHead(
            method=self.method,
            target=target,
            path=target.partition(b"?")[0],
            fields=self.fields,
            onward=self.onward,
            keep_alive=self.keep_alive,
            modern=self.modern,
            expects_continue=self.expects_continue,
        )


class ResponseHead:
    """Status and headers of a response, but for its length: heads that differ in nothing else are one value.

    `lines` are the status line and the headers that travel on, `fields` is for look-up, names in lower case.
    `until_close` tells that only the end of the connection ends the body. A coding that is undone is not shown.
    """

    __slots__ = ("fields", "is_event_stream", "lines", "status", "until_close")

    def __init__(
        self, status: int, lines: bytes, fields: dict[bytes, bytes], is_event_stream: bool, until_close: bool
    ) -> None:
        self.status: Final = status
        self.lines: Final = lines
        self.fields: Final = fields
        self.is_event_stream: Final = is_event_stream
        self.until_close: Final = until_close

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ResponseHead) and self._parts() == other._parts()

    def _parts(self) -> tuple[object, ...]:
        return self.status, self.lines, self.fields, self.is_event_stream, self.until_close
