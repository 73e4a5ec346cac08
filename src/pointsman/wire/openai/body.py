"""A request body, decoded as far as placing it needs; the bytes themselves stay what is forwarded."""

from operator import attrgetter

import msgspec

from pointsman.brain.model.errors import BadRequest
from pointsman.wire.decoding import decoder, mended

_LARGEST_LIMIT = 2**31
_ABSENT = msgspec.Raw()

CONTROL_MEMBERS = frozenset(
    (
        *("kv_transfer_params", "vllm_xargs", "priority"),  # vLLM's
        *("bootstrap_host", "bootstrap_port", "bootstrap_room"),  # SGLang's, of where KV comes from
        *("data_parallel_rank", "routed_dp_rank", "disagg_prefill_dp_rank"),  # and of who computes
    )
)
"""Members that clients do not set through a gateway."""
_control = attrgetter(*CONTROL_MEMBERS)
_NO_CONTROL = (_ABSENT,) * len(CONTROL_MEMBERS)


class Body(msgspec.Struct, frozen=True, gc=False):
    """What the gateway looks at. Raw members keep the client's bytes and are empty when absent."""

    model: str | None = None
    stream: bool | None = None
    stream_options: msgspec.Raw = _ABSENT
    max_tokens: int | float | None = None
    max_completion_tokens: int | float | None = None
    max_output_tokens: int | float | None = None
    n: int | None = None
    user: msgspec.Raw = _ABSENT
    messages: msgspec.Raw = _ABSENT
    prompt: msgspec.Raw = _ABSENT
    input: msgspec.Raw = _ABSENT
    system: msgspec.Raw = _ABSENT
    instructions: msgspec.Raw = _ABSENT
    tools: msgspec.Raw = _ABSENT
    chat_template_kwargs: msgspec.Raw = _ABSENT
    cache_salt: msgspec.Raw = _ABSENT
    extra_key: msgspec.Raw = _ABSENT
    lora_path: msgspec.Raw = _ABSENT
    previous_response_id: msgspec.Raw = _ABSENT
    kv_transfer_params: msgspec.Raw = _ABSENT
    vllm_xargs: msgspec.Raw = _ABSENT
    priority: msgspec.Raw = _ABSENT
    bootstrap_host: msgspec.Raw = _ABSENT
    bootstrap_port: msgspec.Raw = _ABSENT
    bootstrap_room: msgspec.Raw = _ABSENT
    data_parallel_rank: msgspec.Raw = _ABSENT
    routed_dp_rank: msgspec.Raw = _ABSENT
    disagg_prefill_dp_rank: msgspec.Raw = _ABSENT

    @property
    def output_limit(self) -> int | None:
        """The most tokens the answer may have; None where nothing sensible is said (some servers take -1 for none)."""
        limit = self.max_completion_tokens or self.max_tokens or self.max_output_tokens
        return int(limit) if limit is not None and 0 < limit <= _LARGEST_LIMIT else None

    @property
    def steers(self) -> bool:
        """Whether it has members that steer an engine's inner workings (`CONTROL_MEMBERS`)."""
        given: bool = _control(self) != _NO_CONTROL
        return given


_decode = decoder(Body)


def read_body(body: bytes) -> Body:
    """Decode a JSON body. Raises BadRequest, naming the member at fault where there is one."""
    try:
        return _decode(body)
    except msgspec.ValidationError as error:
        raise BadRequest(f"the request body: {error}") from None
    except msgspec.DecodeError as error:
        return _read_mended(body, error)


def _read_mended(body: bytes, reason: Exception) -> Body:
    again = mended(body)
    if again is body:
        raise BadRequest(f"the request body is not valid JSON: {reason}") from None
    try:
        return _decode(again)
    except msgspec.DecodeError as error:
        raise BadRequest(f"the request body: {error}") from None


def present(raw: msgspec.Raw) -> bytes:
    """The bytes of a raw member; empty when it is absent or null."""
    data = bytes(raw)
    return b"" if data == b"null" else data
