"""One event of a stream, or a whole answer, decoded as far as accounting needs it."""

import msgspec

from pointsman.wire.decoding import decoder, mended


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
            says(self.content)
            or says(self.reasoning_content)
            or says(self.reasoning)
            or says(self.refusal)
            or says(self.tool_calls)
            or says(self.function_call)
        )


class _Choice(msgspec.Struct, gc=False):
    index: int = 0
    text: str | None = None
    delta: _Delta | None = None
    finish_reason: msgspec.Raw = msgspec.Raw()

    def says_something(self) -> bool:
        return bool(self.text) or (self.delta is not None and self.delta.says_something())


class Answer(msgspec.Struct, gc=False):
    usage: _Usage | None = None


class Chunk(msgspec.Struct, gc=False):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    error: msgspec.Raw = msgspec.Raw()
    type: str = ""
    object: str = ""
    response: Answer | None = None
    message: Answer | str | None = None

    def is_error(self) -> bool:
        return says(self.error) or self.object == "error"


MOST_TOKENS = 10**9
"""No request has more; a count beyond it, or below 0, counts as not said."""
_NOTHING = (b"null", b'""', b"[]")
_EMPTY = Chunk()
_decode_chunk = decoder(Chunk)
_decode_answer = decoder(Answer)


def usage_of(body: bytes) -> Usage:
    """The usage of a whole JSON answer; zeros where it has none."""
    if b'"usage"' not in body:
        return Usage()
    try:
        answer = _decode_answer(body)
    except msgspec.DecodeError:
        return Usage()
    return usage_from(answer.usage) if answer.usage else Usage()


def says(raw: msgspec.Raw) -> bool:
    """Whether a raw member is there and not empty."""
    return bool(raw) and bytes(raw) not in _NOTHING


def read_chunk(data: bytes) -> Chunk:
    try:
        return _decode_chunk(data)
    except msgspec.DecodeError:
        return _read_mended(data)


def _read_mended(data: bytes) -> Chunk:
    """A chunk that may hold half a character pair, which engines write and msgspec refuses."""
    again = mended(data)
    try:
        return _EMPTY if again is data else _decode_chunk(again)
    except msgspec.DecodeError:
        return _EMPTY


def usage_from(raw: _Usage) -> Usage:
    details = raw.prompt_tokens_details or raw.input_tokens_details
    cached = _count(details.cached_tokens if details else raw.cache_read_input_tokens)
    prompt = _count(raw.prompt_tokens) or _count(raw.input_tokens) or 0
    return Usage(prompt, _count(raw.completion_tokens) or _count(raw.output_tokens) or 0, cached)


def _count(tokens: int | None) -> int | None:
    """What is told, if it can be."""
    return tokens if tokens is not None and 0 <= tokens <= MOST_TOKENS else None
