"""One event of a stream, or a whole answer, decoded as far as accounting needs it."""

from typing import Final

import msgspec

from pointsman.wire.decoding import decoder, mended
from pointsman.wire.openai.shapes import Answer, Choice, Chunk, Delta, ToldUsage, Usage

MOST_TOKENS = 10**9
"""No request has more; a count beyond it, or below 0, counts as not said."""
_NOTHING: Final = (msgspec.Raw(b"null"), msgspec.Raw(b'""'), msgspec.Raw(b"[]"))
_EMPTY: Final = Chunk()
_decode_chunk: Final = decoder(Chunk)
_decode_answer: Final = decoder(Answer)


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
    return bool(raw) and raw not in _NOTHING


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


def tells_error(chunk: Chunk) -> bool:
    return says(chunk.error) or chunk.object == "error"


def says_something(choice: Choice) -> bool:
    """Whether it carries anything generated."""
    return bool(choice.text) or (choice.delta is not None and _brings_something(choice.delta))


def usage_from(raw: ToldUsage) -> Usage:
    details = raw.prompt_tokens_details or raw.input_tokens_details
    cached = _count(details.cached_tokens if details else raw.cache_read_input_tokens)
    prompt = _count(raw.prompt_tokens) or _count(raw.input_tokens) or 0
    return Usage(prompt, _count(raw.completion_tokens) or _count(raw.output_tokens) or 0, cached)


def _brings_something(delta: Delta) -> bool:
    return (
        says(delta.content)
        or says(delta.reasoning_content)
        or says(delta.reasoning)
        or says(delta.refusal)
        or says(delta.tool_calls)
        or says(delta.function_call)
    )


def _count(tokens: int | None) -> int | None:
    """What is told, if it can be."""
    return tokens if tokens is not None and 0 <= tokens <= MOST_TOKENS else None
