"""KV memory that engines or gateways of other make ask for, and get, under a lease of limited time."""

from typing import Annotated

import msgspec
from msgspec import Meta

from pointsman.brain.model.node import MOST, AtLeastOne, Id

Seconds = Annotated[float, Meta(gt=0, le=86_400)]


class MemoryWish(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Memory for one request that others serve."""

    model: Annotated[Id, Meta(min_length=1, description="model that the request is for")]
    prompt_tokens: Annotated[AtLeastOne, Meta(description="tokens of its prompt")]
    output_tokens: Annotated[int, Meta(ge=0, le=MOST, description="tokens of its answer to keep memory for")] = 0
    priority: Annotated[float, Meta(gt=0, le=MOST, description="its worth beside others")] = 1.0
    node: Annotated[Id | None, Meta(description="node it must be on; the one of greatest utility if left out")] = None
    ttl_s: Annotated[Seconds, Meta(description="seconds after which the memory is taken back unless renewed")] = 60.0


class Allocation(msgspec.Struct, frozen=True, kw_only=True):
    """Memory that is held: `blocks` of `block_tokens` tokens on `node`, for `ttl_s` more seconds."""

    lease: str
    node: str
    url: str
    rank: int | None
    blocks: int
    block_tokens: int
    ttl_s: float
