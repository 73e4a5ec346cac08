"""How an engine that obeys is told what to do with its KV cache, and what it says of that: JSON, and one header.

`POST /kv/orders` takes `{"orders": [{"order": "evict", "links": [...]}, ...]}` and answers what came of each, in order,
and which links it has `lost` unasked since it was told something last. `GET /kv` says what there is. A request brings
the links of its prompt in the header `x-pointsman-chain`: base64 of 8 bytes each, the lowest first.
"""

from binascii import Error as Base64Error
from binascii import a2b_base64, b2a_base64
from collections.abc import Iterable, Sequence
from struct import pack, unpack
from typing import Annotated

import msgspec
from msgspec import Meta

from pointsman.brain.model.commands import Carried, Command, Count
from pointsman.wire.decoding import decoder

CHAIN_HEADER = "x-pointsman-chain"
MOST_LINKS = 4096
"""Links that a request brings: of more, the first. Engines must take a header of 43,692 bytes."""


class KvOrders(msgspec.Struct, frozen=True):
    """Commands, to be carried out in this order."""

    orders: tuple[Command, ...]


class KvAnswer(msgspec.Struct, frozen=True):
    """What came of each, and the links that were evicted without a command since the last answer."""

    done: tuple[Carried, ...]
    lost: tuple[int, ...] = ()


class KvTier(msgspec.Struct, frozen=True):
    """Memory beside the GPU's: room for so many blocks, and seconds to copy one there or back."""

    blocks: Count
    free: Count
    seconds_per_block: Annotated[float, Meta(ge=0)]


class KvStatus(msgspec.Struct, frozen=True, kw_only=True):
    """An engine's KV memory, in blocks; `named` are those cached of which it knows the links."""

    obeys: bool
    blocks: Count
    free: Count
    cached: Count
    named: Count
    pinned: Count
    tiers: tuple[KvTier, ...] = ()


decode_answer = decoder(KvAnswer)
decode_status = decoder(KvStatus)


def pack_links(links: Sequence[int]) -> bytes:
    """What the header says of these."""
    some = links[:MOST_LINKS]
    return b2a_base64(pack(f"<{len(some)}Q", *some), newline=False)


def unpack_links(value: str) -> tuple[int, ...]:
    """The links that a header tells. Raises ValueError if it tells none."""
    try:
        packed = a2b_base64(value, strict_mode=True)
    except (Base64Error, ValueError) as error:
        raise ValueError(f"{CHAIN_HEADER} is not base64: {error}") from None
    if len(packed) % 8:
        raise ValueError(f"{CHAIN_HEADER} must tell 8 bytes a link, got {len(packed)} bytes")
    return unpack(f"<{len(packed) // 8}Q", packed)


def orders_of(commands: Iterable[Command]) -> bytes:
    """The body that orders these."""
    return msgspec.json.encode(KvOrders(tuple(commands)))
