"""Request bodies of the emulated engine. Fields it has no use for, such as sampling parameters, are ignored."""

from typing import Any

import msgspec

from pointsman.engine.api.errors import ApiError
from pointsman.engine.text.template import Message

MAX_CHOICES = 128


class StreamOptions(msgspec.Struct, frozen=True):
    include_usage: bool | None = False


class Extension(msgspec.Struct, frozen=True):
    """`"emulator": {"output_tokens": N}` makes the answer exactly N tokens long, for replays.

    When a final assistant message is continued, its tokens count towards N.
    """

    output_tokens: int | None = None


class GenerationRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What chat and completion requests have in common."""

    model: str | None = None
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    max_tokens: int | None = None
    min_tokens: int | None = 0
    n: int | None = 1
    stop: str | list[str] | None = None
    include_stop_str_in_output: bool | None = False
    ignore_eos: bool | None = False
    priority: int | None = 0
    return_token_ids: bool | None = False
    request_id: str | None = None
    emulator: Extension | None = None

    @property
    def stops(self) -> list[str]:
        stop = [self.stop] if isinstance(self.stop, str) else self.stop
        return [text for text in stop or () if text]

    @property
    def wants_usage(self) -> bool:
        return bool(self.stream_options is not None and self.stream_options.include_usage)

    @property
    def token_limit(self) -> int | None:
        return self.max_tokens

    def check(self, by_priority: bool) -> None:
        """Raises ApiError for values vLLM refuses."""
        if not 1 <= (self.n or 1) <= MAX_CHOICES:
            raise ApiError(f"n must be between 1 and {MAX_CHOICES}, got {self.n}.", param="n")
        if self.token_limit is not None and self.token_limit < 1:
            raise ApiError(f"max_tokens must be at least 1, got {self.token_limit}.", param="max_tokens")
        if self.token_limit is not None and (self.min_tokens or 0) > self.token_limit:
            raise ApiError(f"min_tokens must be at most max_tokens={self.token_limit}.", param="min_tokens")
        if self.stream_options is not None and not self.stream:
            raise ApiError("Stream options can only be defined when `stream=True`.", param="stream_options")
        if self.priority and not by_priority:
            raise ApiError(f"Got priority {self.priority} but priority scheduling is not enabled.", param="priority")


class ChatRequest(GenerationRequest, frozen=True, kw_only=True):
    messages: list[Message]
    max_completion_tokens: int | None = None
    tools: list[dict[str, Any]] | None = None
    add_generation_prompt: bool = True
    continue_final_message: bool = False

    @property
    def token_limit(self) -> int | None:
        return self.max_completion_tokens if self.max_completion_tokens is not None else self.max_tokens


class CompletionRequest(GenerationRequest, frozen=True, kw_only=True):
    prompt: str | list[int | str | list[int]]
    max_tokens: int | None = 16
    echo: bool | None = False


class EmbeddingRequest(msgspec.Struct, frozen=True, kw_only=True):
    input: str | list[int | str | list[int]]
    model: str | None = None
    dimensions: int | None = None
    encoding_format: str | None = "float"


class TokenizeRequest(msgspec.Struct, frozen=True, kw_only=True):
    model: str | None = None
    prompt: str | None = None
    messages: list[Message] | None = None
    tools: list[dict[str, Any]] | None = None
    add_generation_prompt: bool = True
    continue_final_message: bool = False


class DetokenizeRequest(msgspec.Struct, frozen=True, kw_only=True):
    tokens: list[int]
    model: str | None = None
