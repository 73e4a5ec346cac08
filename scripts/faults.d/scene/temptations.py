"""Requests that bring keys along in every way, right ones and wrong ones, well-formed or not."""

import asyncio
import base64
import json
from contextlib import suppress
from dataclasses import dataclass

from scene.asks import PATH, make

PATIENCE_S = 5.0
NO_ANSWER_S = 0.5
_PLAIN = make("plain", [{"role": "user", "content": "hello"}], False, 5).body
_STREAM = make("stream", [{"role": "user", "content": "hello"}], True, 5).body


@dataclass(frozen=True, slots=True)
class Temptation:
    """What is sent, byte for byte, and the status that must come back; 0 if it does not matter."""

    name: str
    data: bytes
    status: int = 0

    async def sent(self, port: int) -> bytes:
        """All that comes back."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        answer = b""
        writer.write(self.data)
        with suppress(TimeoutError, ConnectionError):
            async with asyncio.timeout(PATIENCE_S if self.status else NO_ANSWER_S):
                while piece := await reader.read(1 << 16):
                    answer += piece
        writer.transport.abort()
        return answer


def post(name: str, body: bytes, status: int, *lines: str, path: str = PATH) -> Temptation:
    return Temptation(name, _head("POST", path, *lines, f"content-length: {len(body)}") + body, status)


def get(name: str, path: str, status: int, *lines: str) -> Temptation:
    return Temptation(name, _head("GET", path, *lines), status)


def a_stream(key: str) -> Temptation:
    return post("a stream", _STREAM, 200, f"authorization: Bearer {key}")


def a_plain_answer(key: str, status: int = 200) -> Temptation:
    return post("a plain answer", _PLAIN, status, f"authorization: Bearer {key}")


def with_right_key(key: str) -> list[Temptation]:
    """Requests of a client that may ask, some of them wrong in other ways."""
    bearer = f"authorization: Bearer {key}"
    everywhere = (bearer, f"x-api-key: {key}", f"api-key: {key}", f"cookie: key={key}", f"proxy-authorization: {key}")
    named = ("connection: close, x-secret", f"x-secret: {key}")
    unknown = json.dumps({"model": "nobody", "messages": []}).encode()
    embedding = json.dumps({"model": "m", "input": "hello"}).encode()
    return [
        a_stream(key),
        a_plain_answer(key),
        post("in another header", _PLAIN, 200, f"x-api-key: {key}"),
        post("in every header", _STREAM, 200, *everywhere),
        post("in a header named by Connection", _PLAIN, 200, bearer, *named),
        post("embeddings", embedding, 200, bearer, path="/v1/embeddings"),
        post("no JSON", b"{", 400, bearer),
        post("an unknown model", unknown, 404, bearer),
        post("an unknown path", _PLAIN, 404, bearer, path="/v1/nothing"),
        post("a feedback", b'{"request_id": "none", "good": false}', 404, bearer, path="/feedback"),
        get("the models", "/v1/models", 200, bearer),
        get("a wrong method", PATH, 405, bearer),
        get("too many headers", "/v1/models", 431, bearer, *[f"x-{n}: {key}" for n in range(200)]),
        get("a blank before the colon", "/v1/models", 400, f"authorization : Bearer {key}"),
        Temptation("half a body", _head("POST", PATH, bearer, "content-length: 100") + b"{"),
        Temptation("two lengths", _head("POST", PATH, bearer, "content-length: 1", "content-length: 2") + b"{}", 400),
    ]


def with_wrong_key(key: str) -> list[Temptation]:
    """Requests that must be refused."""
    basic = base64.b64encode(f"user:{key}".encode()).decode()
    return [
        post("a bearer", _PLAIN, 401, f"authorization: Bearer {key}"),
        post("a stream", _STREAM, 401, f"authorization: bearer {key}"),
        post("another header", _PLAIN, 401, f"x-api-key: {key}"),
        post("basic", _PLAIN, 401, f"authorization: Basic {basic}"),
        post("another scheme", _PLAIN, 401, f"authorization: Token {key}"),
        post("no scheme", _PLAIN, 401, f"authorization: {key}"),
        get("in the query", f"/v1/models?api_key={key}", 401),
        get("no HTTP version", "/v1/models", 0, f"authorization: Bearer {key}"),
        Temptation("a broken request line", f"GET /v1/models?key={key} HTTP/9.9\r\n\r\n".encode()),
        Temptation("a control character", _head("GET", "/v1/models", f"authorization: Bearer {key}\0"), 400),
    ]


def _head(method: str, path: str, *lines: str) -> bytes:
    closing = [] if any(line.startswith("connection:") for line in lines) else ["connection: close"]
    return "\r\n".join([f"{method} {path} HTTP/1.1", "host: scene", *closing, *lines, "", ""]).encode()
