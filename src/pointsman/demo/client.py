"""The demonstration's client: one streamed chat completion, timed as its bytes arrive."""

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import msgspec

from .stopwatch import EngineTime


class Answer(msgspec.Struct):
    """What came back so far; filled while the stream runs, so that a cut one still tells what it saw.

    Moments in engine seconds of the run. `complete`: the stream ended with a finish reason and `[DONE]`.
    """

    sent_s: float
    first_s: float | None = None
    done_s: float = 0.0
    text: str = ""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    finished: bool = False
    complete: bool = False
    problem: str = ""


class _Delta(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    delta: _Delta = msgspec.field(default_factory=_Delta)
    finish_reason: str | None = None


class _Details(msgspec.Struct):
    cached_tokens: int = 0


class _Usage(msgspec.Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: _Details | None = None


class _Chunk(msgspec.Struct):
    choices: list[_Choice] = []
    usage: _Usage | None = None
    error: Any = None


_decode = msgspec.json.Decoder(_Chunk).decode
_encode = msgspec.json.Encoder().encode


class ChatClient:
    """Sends chat completions to one gateway. Its connections close with the `aiohttp` session handed in."""

    def __init__(
        self, session: aiohttp.ClientSession, url: str, model: str, time: EngineTime, *, lengths_told: bool = True
    ) -> None:
        """`lengths_told`: whether requests say how long their answers will be, as `max_tokens`."""
        self._session = session
        self._url = f"{url}/v1/chat/completions"
        self._model = model
        self._time = time
        self._lengths_told = lengths_told

    async def ask(self, answer: Answer, request_id: str, messages: list[dict[str, str]], output_tokens: int) -> None:
        """Ask, and fill `answer` while the stream comes. A failure is noted in it, not raised."""
        try:
            await self._exchange(answer, request_id, self._body(messages, output_tokens))
        except (aiohttp.ClientError, TimeoutError, msgspec.DecodeError, msgspec.ValidationError) as error:
            answer.problem = f"{type(error).__name__}: {error}"
        finally:
            answer.done_s = self._time.now()

    async def _exchange(self, answer: Answer, request_id: str, body: bytes) -> None:
        headers = {"Content-Type": "application/json", "X-Request-Id": request_id}
        async with self._session.post(self._url, data=body, headers=headers) as response:
            if response.status != 200:
                answer.problem = f"status {response.status}: {(await response.text())[:200]}"
                return
            async for data in _events(response.content):
                if data == b"[DONE]":
                    answer.complete = answer.finished
                    return
                self._take(answer, _decode(data))
        answer.problem = answer.problem or "the stream was cut"

    def _take(self, answer: Answer, chunk: _Chunk) -> None:
        if chunk.error is not None:
            answer.problem = str(chunk.error)[:200]
        for choice in chunk.choices:
            if choice.delta.content:
                answer.text += choice.delta.content
                if answer.first_s is None:
                    answer.first_s = self._time.now()
            answer.finished = answer.finished or choice.finish_reason is not None
        if chunk.usage is not None:
            answer.prompt_tokens = chunk.usage.prompt_tokens
            answer.output_tokens = chunk.usage.completion_tokens
            details = chunk.usage.prompt_tokens_details
            answer.cached_tokens = details.cached_tokens if details else 0

    def _body(self, messages: list[dict[str, str]], output_tokens: int) -> bytes:
        """The emulated engines obey `emulator.output_tokens`, so that every policy is asked for the same answers."""
        body = {
            "model": self._model,
            "messages": messages,
            "stream": True,
            "stream_options": {"include_usage": True},
            "emulator": {"output_tokens": output_tokens},
        }
        return _encode(body | {"max_tokens": output_tokens} if self._lengths_told else body)


async def _events(stream: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """The data of each server-sent event. The engines write LF line ends and one data line an event."""
    rest = b""
    async for piece in stream.iter_any():
        *events, rest = (rest + piece).split(b"\n\n")
        for event in events:
            if event.startswith(b"data: "):
                yield event[6:]
