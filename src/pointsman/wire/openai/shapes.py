"""What is looked at of requests, answers and their events: the shapes that JSON is decoded to, and nothing else.

They stand apart from what reads them because the compiler leaves alone every module that defines values. Raw members
keep the sender's bytes and are empty when absent.
"""

import msgspec

ABSENT = msgspec.Raw()


class Body(msgspec.Struct, frozen=True, gc=False):
    """What the gateway looks at of a request. From `cache_salt` on, a member is something out of the ordinary."""

    model: str | None = None
    stream: bool | None = None
    stream_options: msgspec.Raw = ABSENT
    max_tokens: int | float | None = None
    max_completion_tokens: int | float | None = None
    max_output_tokens: int | float | None = None
    n: int | None = None
    user: msgspec.Raw = ABSENT
    messages: msgspec.Raw = ABSENT
    prompt: msgspec.Raw = ABSENT
    input: msgspec.Raw = ABSENT
    system: msgspec.Raw = ABSENT
    instructions: msgspec.Raw = ABSENT
    tools: msgspec.Raw = ABSENT
    chat_template_kwargs: msgspec.Raw = ABSENT
    cache_salt: msgspec.Raw = ABSENT
    extra_key: msgspec.Raw = ABSENT
    lora_path: msgspec.Raw = ABSENT
    previous_response_id: msgspec.Raw = ABSENT
    kv_transfer_params: msgspec.Raw = ABSENT
    vllm_xargs: msgspec.Raw = ABSENT
    priority: msgspec.Raw = ABSENT
    bootstrap_host: msgspec.Raw = ABSENT
    bootstrap_port: msgspec.Raw = ABSENT
    bootstrap_room: msgspec.Raw = ABSENT
    data_parallel_rank: msgspec.Raw = ABSENT
    routed_dp_rank: msgspec.Raw = ABSENT
    disagg_prefill_dp_rank: msgspec.Raw = ABSENT


class StreamOptions(msgspec.Struct):
    include_usage: bool | None = None


class Prompt(msgspec.Struct, frozen=True, gc=False):
    """Either `data`, or `token_ids` when the client sent token ids; `size` in bytes or ids counts all prompts."""

    data: bytes = b""
    token_ids: list[int] | None = None
    size: int = 0


class Usage(msgspec.Struct, frozen=True, gc=False):
    """Tokens, 0 where the engine does not say; `cached` is None then."""

    prompt: int = 0
    completion: int = 0
    cached: int | None = None


class UsageDetails(msgspec.Struct, gc=False):
    cached_tokens: int | None = None


class ToldUsage(msgspec.Struct, gc=False):
    """The usage as engines write it."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    prompt_tokens_details: UsageDetails | None = None
    input_tokens_details: UsageDetails | None = None


class Delta(msgspec.Struct, gc=False):
    content: msgspec.Raw = ABSENT
    reasoning_content: msgspec.Raw = ABSENT
    reasoning: msgspec.Raw = ABSENT
    refusal: msgspec.Raw = ABSENT
    tool_calls: msgspec.Raw = ABSENT
    function_call: msgspec.Raw = ABSENT


class Choice(msgspec.Struct, gc=False):
    index: int = 0
    text: str | None = None
    delta: Delta | None = None
    finish_reason: msgspec.Raw = ABSENT


class Answer(msgspec.Struct, gc=False):
    """A whole answer, or the one a typed event speaks of."""

    usage: ToldUsage | None = None


class Chunk(msgspec.Struct, gc=False):
    """One event of a stream, of choices or typed."""

    choices: list[Choice] | None = None
    usage: ToldUsage | None = None
    error: msgspec.Raw = ABSENT
    type: str = ""
    object: str = ""
    response: Answer | None = None
    message: Answer | str | None = None


class ErrorDetails(msgspec.Struct):
    code: int | str | None = None


class ErrorAnswer(msgspec.Struct):
    """An error that came with a 200."""

    object: str = ""
    error: ErrorDetails | str | None = None
    code: int | str | None = None
