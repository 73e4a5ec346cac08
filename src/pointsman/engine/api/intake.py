"""From a request body to a job: prompts become bytes, blocks and sequences."""

from collections.abc import Callable
from itertools import count
from typing import TypeVar

import msgspec

from pointsman.clock import unix_seconds
from pointsman.engine.api.bodies import Bodies
from pointsman.engine.api.choice import Choice, Ending
from pointsman.engine.api.errors import ApiError, answer_too_long, prompt_too_long, unknown_model
from pointsman.engine.api.job import Job
from pointsman.engine.api.requests import ChatRequest, CompletionRequest, GenerationRequest, TokenizeRequest
from pointsman.engine.profile import EngineProfile
from pointsman.engine.sequence import Sequence
from pointsman.engine.settings import EngineConfig
from pointsman.engine.text.template import render
from pointsman.engine.text.tokens import chain, from_ids, split, split_blocks, to_ids
from pointsman.engine.text.words import Writer

Body = TypeVar("Body")


def decoder(kind: type[Body]) -> Callable[[bytes], Body]:
    """A function that reads a JSON body as `kind`; it raises ApiError saying what is wrong where."""
    decode = msgspec.json.Decoder(kind).decode

    def read(body: bytes) -> Body:
        try:
            return decode(body)
        except (msgspec.MsgspecError, RecursionError) as error:  # the latter for JSON nested too deeply
            raise ApiError(str(error)) from None

    return read


class Prompt(msgspec.Struct, frozen=True):
    """A prompt cut into blocks: full ones and their hashes, and what is left behind them."""

    raw: bytes
    tokens: int
    hashes: list[int]
    blocks: list[bytes]
    tail: bytes
    tail_tokens: int

    @classmethod
    def of(cls, raw: bytes, block_size: int) -> "Prompt":
        """Raises ApiError for an empty prompt."""
        blocks = split_blocks(raw, block_size)
        if not blocks:
            raise ApiError("The prompt must not be empty.", param="prompt")
        tail = blocks[-1]
        tail_tokens = len(split(tail)) % block_size
        if tail_tokens:
            blocks.pop()
        else:
            tail = b""
        return cls(raw, len(blocks) * block_size + tail_tokens, chain(blocks), blocks, tail, tail_tokens)


class Intake:
    """Validates requests against one engine's limits and makes them jobs."""

    def __init__(self, config: EngineConfig, profile: EngineProfile) -> None:
        self.models = config.model or (profile.name,)
        self._config = config
        self._profile = profile
        self._numbers = count(1)

    def model(self, name: str | None) -> str:
        """The model to answer as. Raises ApiError if it is not served."""
        if name is None or name == "":
            return self.models[0]
        if name not in self.models:
            raise unknown_model(name)
        return name

    def chat(self, body: ChatRequest, request_id: str) -> Job:
        prompt = render_chat(body)
        forced = _forced(body, len(split(_continued(body))))
        return self._job(body, [prompt], request_id, forced, chat=True)

    def completion(self, body: CompletionRequest, request_id: str) -> Job:
        if body.echo:
            raise ApiError("echo is not supported by the emulated engine.", param="echo")
        return self._job(body, prompts_of(body.prompt), request_id, _forced(body, 0), chat=False)

    def _job(
        self, body: GenerationRequest, raw_prompts: list[bytes], request_id: str, forced: int | None, *, chat: bool
    ) -> Job:
        model = self.model(body.model)
        body.check(self._profile.limits.by_priority)
        prompts = [Prompt.of(raw, self._profile.limits.block_size) for raw in raw_prompts]
        number = next(self._numbers)
        per_prompt = body.n or 1
        ending = Ending(
            body.stops, bool(body.include_stop_str_in_output), body.min_tokens or 0, bool(body.ignore_eos), forced
        )
        choices = [
            self._choice(f"{number}-{index}", index, index % per_prompt, prompt, body, ending)
            for index, prompt in enumerate(prompt for prompt in prompts for _ in range(per_prompt))
        ]
        ids = [to_ids(raw) for raw in raw_prompts] if body.return_token_ids else None
        name = ("chatcmpl-" if chat else "cmpl-") + request_id
        return Job(
            Bodies(name, int(unix_seconds()), model, chat, ids),
            choices,
            per_prompt,
            stream=bool(body.stream),
            interval=self._config.stream_interval,
            with_usage=body.wants_usage,
        )

    def _choice(
        self, key: str, index: int, variant: int, prompt: Prompt, body: GenerationRequest, ending: Ending
    ) -> Choice:
        limit = self._token_limit(prompt, body, ending)
        sequence = Sequence(key, prompt.tokens, limit, prompt.hashes.copy(), body.priority or 0)
        writer = Writer(prompt.raw, self._config.mean_output_tokens, variant)
        texts = dict(zip(prompt.hashes, prompt.blocks, strict=True)) if self._profile.kv_events else None
        tail = prompt.tail, prompt.tail_tokens
        return Choice(index, sequence, writer, ending, tail, self._profile.limits.block_size, texts)

    def _token_limit(self, prompt: Prompt, body: GenerationRequest, ending: Ending) -> int:
        """How many tokens the answer may have. Raises ApiError if prompt and answer exceed the model's length."""
        longest = self._profile.max_model_len
        if prompt.tokens >= longest:
            raise prompt_too_long(longest, prompt.tokens)
        wanted = body.token_limit
        if wanted is not None and prompt.tokens + wanted > longest:
            raise answer_too_long(longest, prompt.tokens, wanted)
        limit = wanted if wanted is not None else longest - prompt.tokens
        return limit if ending.forced_tokens is None else min(limit, ending.forced_tokens)


def render_chat(body: ChatRequest | TokenizeRequest) -> bytes:
    """The prompt of a chat. Raises ApiError for what the template refuses."""
    try:
        return render(
            body.messages or [],
            body.tools,
            add_generation_prompt=body.add_generation_prompt,
            continue_final_message=body.continue_final_message,
        )
    except ValueError as error:
        raise ApiError(str(error), param="messages") from None


def prompts_of(value: str | list[int | str | list[int]]) -> list[bytes]:
    """The prompts of a completion: one text, texts, token ids, or lists of token ids. Raises ApiError for mixtures."""
    if isinstance(value, str):
        return [value.encode()]
    try:
        if value and all(isinstance(item, int) for item in value):
            return [from_ids([item for item in value if isinstance(item, int)])]
        if not value or any(isinstance(item, int) for item in value):
            raise ApiError(
                "A prompt is a text, a list of texts, a list of token ids or a list of those.", param="prompt"
            )
        return [
            item.encode() if isinstance(item, str) else from_ids(item) for item in value if not isinstance(item, int)
        ]
    except ValueError as error:
        raise ApiError(str(error), param="prompt") from None


def _forced(body: GenerationRequest, written: int) -> int | None:
    """How many tokens a replay still wants, `written` of them being part of the prompt."""
    wanted = body.emulator.output_tokens if body.emulator is not None else None
    return None if wanted is None else max(1, wanted - written)


def _continued(body: ChatRequest) -> bytes:
    """The text of the final message that the answer continues."""
    content = body.messages[-1].content if body.continue_final_message else ""
    return content.encode() if isinstance(content, str) else b""
