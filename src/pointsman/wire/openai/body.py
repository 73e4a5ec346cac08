"""A request body, decoded as far as placing it needs; the bytes themselves stay what is forwarded."""

from typing import Final

import msgspec
from msgspec.structs import astuple

from pointsman.brain.model.errors import BadRequest
from pointsman.wire.decoding import decoder, mended
from pointsman.wire.openai.shapes import Body

_LARGEST_LIMIT: Final = 2**31

CONTROL_MEMBERS = frozenset(
    (
        *("kv_transfer_params", "vllm_xargs", "priority"),  # vLLM's
        *("bootstrap_host", "bootstrap_port", "bootstrap_room"),  # SGLang's, of where KV comes from
        *("data_parallel_rank", "routed_dp_rank", "disagg_prefill_dp_rank"),  # and of who computes
    )
)
"""Members that clients do not set through a gateway."""


_ORDINARY: Final = Body.__struct_fields__.index("cache_salt")
"""How many members every request may have; those behind them are few people's."""
_NOTHING_MORE: Final = astuple(Body())[_ORDINARY:]


_decode: Final = decoder(Body)


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


def output_limit(body: Body) -> int | None:
    """The most tokens the answer may have; None where nothing sensible is said (some servers take -1 for none)."""
    limit = body.max_completion_tokens or body.max_tokens or body.max_output_tokens
    return int(limit) if limit is not None and 0 < limit <= _LARGEST_LIMIT else None


def is_ordinary(body: Body) -> bool:
    """Whether it has no member that few requests have: a salt, a key, what came before, or a control member."""
    return astuple(body)[_ORDINARY:] == _NOTHING_MORE


def steers(body: Body) -> bool:
    """Whether it has members that steer an engine's inner workings (`CONTROL_MEMBERS`)."""
    return any(getattr(body, name) for name in CONTROL_MEMBERS)
