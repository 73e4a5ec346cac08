"""What a response says about itself: its usage, its ends, its errors. Read on a copy, as little as possible.

Of a stream, the events up to the first content are decoded; after that one is decoded only when its bytes show a
member that matters. A quoted `"usage"` inside a text is written `\\"usage\\"` in JSON, so text is not mistaken for it.
"""

from typing import Protocol

import msgspec

from pointsman.wire.decoding import decoder, mended
from pointsman.wire.openai.alike import Alike
from pointsman.wire.sse import data_event, event_data


class Usage(msgspec.Struct, frozen=True, gc=False):
    """Tokens, 0 where the engine does not say; `cached` is None then."""

    prompt: int = 0
    completion: int = 0
    cached: int | None = None


class _Details(msgspec.Struct, gc=False):
    cached_tokens: int | None = None


class _Usage(msgspec.Struct, gc=False):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    prompt_tokens_details: _Details | None = None
    input_tokens_details: _Details | None = None


class _Delta(msgspec.Struct, gc=False):
    content: msgspec.Raw = msgspec.Raw()
    reasoning_content: msgspec.Raw = msgspec.Raw()
    reasoning: msgspec.Raw = msgspec.Raw()
    refusal: msgspec.Raw = msgspec.Raw()
    tool_calls: msgspec.Raw = msgspec.Raw()
    function_call: msgspec.Raw = msgspec.Raw()

    def says_something(self) -> bool:
        return (
            _says(self.content)
            or _says(self.reasoning_content)
            or _says(self.reasoning)
            or _says(self.refusal)
            or _says(self.tool_calls)
            or _says(self.function_call)
        )


class _Choice(msgspec.Struct, gc=False):
    index: int = 0
    text: str | None = None
    delta: _Delta | None = None
    finish_reason: msgspec.Raw = msgspec.Raw()

    def says_something(self) -> bool:
        return bool(self.text) or (self.delta is not None and self.delta.says_something())


class _Answer(msgspec.Struct, gc=False):
    usage: _Usage | None = None


class _Chunk(msgspec.Struct, gc=False):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    error: msgspec.Raw = msgspec.Raw()
    type: str = ""
    object: str = ""
    response: _Answer | None = None
    message: _Answer | str | None = None

    def is_error(self) -> bool:
        return _says(self.error) or self.object == "error"


MOST_TOKENS = 10**9
"""No request has more; a count beyond it, or below 0, counts as not said."""
_NOTHING = (b"null", b'""', b"[]")
_EMPTY = _Chunk()
_DONE = data_event(b"[DONE]")
_decode_chunk = decoder(_Chunk)
_decode_answer = decoder(_Answer)


class StreamAccount(Protocol):
    """Sees every event of one stream. `content_events` counts those that carried something generated."""

    content_events: int
    done: bool
    error: bytes
    usage: Usage

    def again(self, data: bytes, start: int, end: int) -> bool:
        """Take `data[start:end]` if it is one event known by sight, one more with content. Else nothing is taken."""
        ...

    def see(self, event: bytes) -> bool:
        """Take one raw event; true when it is nothing but the usage of the whole stream."""
        ...

    def succeeded(self) -> bool:
        """Whether the stream said that it is complete."""
        ...

    def last_words(self, error: bytes) -> bytes:
        """The events that end a stream of this kind by our own `error` (JSON, `{"error": {...}}`)."""
        ...


class ChatAccount(Alike):
    """Streams of chat and text completions: `[DONE]`, or a finish_reason for each of `choices` indexes, ends them."""

    __slots__ = ("_choices", "_finished", "done", "error", "usage")

    def __init__(self, choices: int = 1) -> None:
        super().__init__()
        self._choices = choices
        self._finished: set[int] = set()
        self.done = False
        self.error = b""
        self.usage = Usage()

    def see(self, event: bytes) -> bool:
        if self.content_events and _says_text_alone(event):
            self.content_events += 1
            self._remember(event)
            return False
        return self._see_closely(event_data(event))

    def succeeded(self) -> bool:
        return not self.error and (self.done or len(self._finished) >= self._choices)

    def last_words(self, error: bytes) -> bytes:
        return data_event(error) + _DONE

    def _see_closely(self, data: bytes) -> bool:
        if data == b"[DONE]":
            self.done = True
            return False
        if not data:
            return False
        chunk = _read_chunk(data)
        if chunk.is_error():
            self.error = data
        if chunk.usage is not None:
            self.usage = _usage(chunk.usage)
        choices = chunk.choices or ()
        says_something = False
        for choice in choices:
            says_something = says_something or choice.says_something()
            if _says(choice.finish_reason):
                self._finished.add(choice.index)
        self.content_events += says_something
        return chunk.usage is not None and not choices


class TypedAccount(Alike):
    """Streams of typed events (`/v1/responses`, `/v1/messages`): a final type ends them."""

    __slots__ = ("done", "error", "usage")

    _FINAL = frozenset(("message_stop", "response.completed", "response.incomplete"))
    _FAILED = frozenset(("error", "response.failed"))

    def __init__(self) -> None:
        super().__init__()
        self.done = False
        self.error = b""
        self.usage = Usage()

    def see(self, event: bytes) -> bool:
        data = event_data(event)
        if data == b"[DONE]":
            self.done = True
            return False
        chunk = _read_chunk(data)
        if chunk.type in self._FAILED or chunk.is_error():
            self.error = data
        if "delta" in chunk.type:
            self.content_events += 1
            if chunk.usage is None and not self.error:
                self._remember(event)
        self.done = self.done or chunk.type in self._FINAL
        self._take_usage(chunk)
        return False

    def succeeded(self) -> bool:
        return self.done and not self.error

    def last_words(self, error: bytes) -> bytes:
        """Of the two makes of such streams' clients one goes by the event's name, the other by its `error`."""
        return b"event: error\n" + data_event(b'{"type":"error",' + error[1:]) + _DONE

    def _take_usage(self, chunk: _Chunk) -> None:
        answer = chunk.response or chunk.message
        raw = chunk.usage or (answer.usage if isinstance(answer, _Answer) else None)
        if raw is None:
            return
        new = _usage(raw)
        old = self.usage
        cached = old.cached if new.cached is None else new.cached
        self.usage = Usage(new.prompt or old.prompt, new.completion or old.completion, cached)


def _says_text_alone(event: bytes) -> bool:
    """Whether the bytes show that no choice ends here, nothing is counted and nothing went wrong."""
    return (
        event.startswith(b"data: {")
        and b'"finish_reason":null' in event
        and event.count(b'"finish_reason"') == 1
        and (b'"usage"' not in event or (b'"usage":null' in event and event.count(b'"usage"') == 1))
        and b'"error"' not in event
    )


def usage_of(body: bytes) -> Usage:
    """The usage of a whole JSON answer; zeros where it has none."""
    if b'"usage"' not in body:
        return Usage()
    try:
        answer = _decode_answer(body)
    except msgspec.DecodeError:
        return Usage()
    return _usage(answer.usage) if answer.usage else Usage()


def _says(raw: msgspec.Raw) -> bool:
    """Whether a raw member is there and not empty."""
    return bool(raw) and bytes(raw) not in _NOTHING


def _read_chunk(data: bytes) -> _Chunk:
    try:
        return _decode_chunk(data)
    except msgspec.DecodeError:
        return _read_mended(data)


def _read_mended(data: bytes) -> _Chunk:
    """A chunk that may hold half a character pair, which engines write and msgspec refuses."""
    again = mended(data)
    try:
        return _EMPTY if again is data else _decode_chunk(again)
    except msgspec.DecodeError:
        return _EMPTY


def _usage(raw: _Usage) -> Usage:
    details = raw.prompt_tokens_details or raw.input_tokens_details
    cached = _count(details.cached_tokens if details else raw.cache_read_input_tokens)
    prompt = _count(raw.prompt_tokens) or _count(raw.input_tokens) or 0
    return Usage(prompt, _count(raw.completion_tokens) or _count(raw.output_tokens) or 0, cached)


def _count(tokens: int | None) -> int | None:
    """What is told, if it can be."""
    return tokens if tokens is not None and 0 <= tokens <= MOST_TOKENS else None
