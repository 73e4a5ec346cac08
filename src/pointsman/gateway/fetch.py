"""A small question to a node: one GET, or a POST of JSON, and the whole answer."""

import asyncio
from typing import NamedTuple

from pointsman.gateway.targets import Target
from pointsman.gateway.upstream import UpstreamConnection, UpstreamSink
from pointsman.wire.http1.heads import simple_request
from pointsman.wire.http1.messages import ResponseHead

ANSWER_LIMIT = 8 * 1024 * 1024


class Fetched(NamedTuple):
    """A whole answer."""

    status: int
    body: bytes


class FetchFailed(Exception):
    """No whole answer; the text is one word."""


class _Collector(UpstreamSink):
    """An upstream sink that keeps everything."""

    def __init__(self) -> None:
        self.done: asyncio.Future[Fetched] = asyncio.get_running_loop().create_future()
        self._status = 0
        self._body = bytearray()

    def on_response_head(self, head: ResponseHead, length: int | None) -> None:  # noqa: ARG002 - the sink's signature
        self._status = head.status

    def on_response_body(self, data: bytes, *, last: bool) -> None:  # noqa: ARG002 - the sink's signature
        self._body += data
        if len(self._body) > ANSWER_LIMIT:
            self._fail("too_large")

    def on_complete(self) -> None:
        if not self.done.done():
            self.done.set_result(Fetched(self._status, bytes(self._body)))

    def on_lost(self, reason: str, *, stale: bool) -> None:
        self._fail("stale" if stale else reason)

    def _fail(self, reason: str) -> None:
        if not self.done.done():
            self.done.set_exception(FetchFailed(reason))


async def fetch(target: Target, path: str, timeout_s: float, body: bytes = b"", lines: bytes = b"") -> Fetched:
    """GET `path`, or POST it a JSON `body`, within `timeout_s` seconds. Raises FetchFailed or ConnectFailed.

    `lines` are further lines of the head, each with its end.
    """
    async with asyncio.timeout(timeout_s):
        pooled = target.pool.take()
        if pooled is not None:
            try:
                return await _ask(target, pooled, path, body, lines)
            except FetchFailed as error:
                if str(error) != "stale":
                    raise
        return await _ask(target, await target.pool.connect(), path, body, lines)


async def _ask(target: Target, connection: UpstreamConnection, path: str, body: bytes, lines: bytes) -> Fetched:
    collector = _Collector()
    method, lines = "GET", target.lines + lines
    if body:
        method, lines = "POST", lines + b"content-type: application/json\r\ncontent-length: %d\r\n" % len(body)
    connection.send(collector, simple_request(method, target.prefix.decode() + path, lines), body)
    answered = False
    try:
        fetched = await collector.done
        answered = True
        return fetched
    finally:
        if not answered:
            connection.close()
