"""KV-cache events as vLLM and SGLang publish them over ZMQ: frames and msgpack in, values out.

A message is `[topic, sequence, payload]`, the sequence eight bytes, big-endian. The payload is `[time, [event...],
rank]`. Up to vLLM 0.23 an event is an array that begins with its type, from 0.24 on a map with the key `type`; the
fields are the same, later versions have more of them. What is not known, fields and kinds of events, is passed over.
Whatever cannot be read is one `Malformed` value: who follows a stream must go on after it.

Blocks of groups whose attention reaches back a window only, or that keep a state, are given up behind that window by
design: they say nothing of whether a prompt's beginning is held, and are passed over.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from pointsman.brain.model.kv_events import Cleared, KvBatch, KvEvent, Name, Removed, Stored

END: Final = -1
"""The sequence with which a replay ends."""
MOST_BYTES: Final = 64 * 1024 * 1024
"""Larger payloads are not read: a batch of 100,000 blocks has a tenth of that."""
_PARTIAL: Final = ("sliding", "chunked", "mamba", "linear", "window")

Token = Annotated[int, Meta(ge=0)]


class Malformed(msgspec.Struct, frozen=True, gc=False):
    """What cannot be read, and why. `sequence` is the message's number, if that much could be read."""

    reason: str
    sequence: int | None = None


class _Stored(msgspec.Struct, gc=False):
    block_hashes: list[int | bytes]
    parent_block_hash: int | bytes | None
    token_ids: list[Token]
    block_size: Annotated[int, Meta(ge=1)]
    lora_id: int | None = None
    medium: str | None = None
    lora_name: str | None = None
    extra_keys: list[Any] | None = None
    group_idx: int | None = None
    kv_cache_spec_kind: str | None = None


class _Removed(msgspec.Struct, gc=False):
    block_hashes: list[int | bytes]
    medium: str | None = None
    group_idx: int | None = None


class _StoredMap(_Stored, gc=False, tag="BlockStored"):
    pass


class _RemovedMap(_Removed, gc=False, tag="BlockRemoved"):
    pass


class _ClearedMap(msgspec.Struct, gc=False, tag="AllBlocksCleared"):
    pass


class _StoredArray(_Stored, gc=False, tag="BlockStored", array_like=True):
    pass


class _RemovedArray(_Removed, gc=False, tag="BlockRemoved", array_like=True):
    pass


class _ClearedArray(msgspec.Struct, gc=False, tag="AllBlocksCleared", array_like=True):
    pass


class _Batch(msgspec.Struct, gc=False, array_like=True):
    ts: float
    events: list[msgspec.Raw]
    data_parallel_rank: int | None = None


class _TagMap(msgspec.Struct, gc=False):
    type: str


class _TagArray(msgspec.Struct, gc=False, array_like=True):
    type: str


_KNOWN: Final = ("BlockStored", "BlockRemoved", "AllBlocksCleared")
_decode_batch = msgspec.msgpack.Decoder(_Batch).decode
_decode_map = msgspec.msgpack.Decoder(_StoredMap | _RemovedMap | _ClearedMap).decode
_decode_array = msgspec.msgpack.Decoder(_StoredArray | _RemovedArray | _ClearedArray).decode
_tag_of_map = msgspec.msgpack.Decoder(_TagMap).decode
_tag_of_array = msgspec.msgpack.Decoder(_TagArray).decode
_encode = msgspec.msgpack.Encoder(order="deterministic").encode


def read_message(frames: Sequence[bytes], rank: int | None = None) -> KvBatch | Malformed:
    """The batch in the frames of a published message; of another data-parallel rank than `rank`, one without events.

    Never raises.
    """
    if len(frames) != 3:
        return Malformed(f"a message of {len(frames)} frames, not of topic, sequence and payload")
    return _read(frames[1], frames[2], rank)


def read_replayed(frames: Sequence[bytes], rank: int | None = None) -> KvBatch | Malformed | None:
    """The batch in a reply to a replay: as published, behind an empty frame, and from some versions without a topic.

    None for the end of the replay. Never raises.
    """
    rest = frames[1:] if len(frames) >= 3 and not frames[0] else frames
    if len(rest) < 2:
        return Malformed(f"a reply of {len(frames)} frames")
    sequence, payload = rest[-2], rest[-1]
    if len(sequence) == 8 and int.from_bytes(sequence, "big", signed=True) == END:
        return None
    return _read(sequence, payload, rank)


def replay_request(start: int) -> list[bytes]:
    """The frames that ask for the batches from number `start` on."""
    return [b"", start.to_bytes(8, "big")]


def text_extra(salt: str) -> bytes:
    """What separates the cache of a prompt of text besides its adapter: as of `Stored.extra`."""
    return _encode([salt]) if salt else b""


def _read(number: bytes, payload: bytes, rank: int | None) -> KvBatch | Malformed:
    if len(number) != 8:
        return Malformed(f"a sequence of {len(number)} bytes, not of 8")
    sequence = int.from_bytes(number, "big")
    if sequence >= 1 << 63:
        return Malformed("a sequence below 0")
    if len(payload) > MOST_BYTES:
        return Malformed(f"a payload of {len(payload)} bytes", sequence)
    try:
        batch = _decode_batch(payload)
        if rank is not None and batch.data_parallel_rank not in (None, rank):
            return KvBatch(sequence, ())
        return KvBatch(sequence, [event for raw in batch.events if (event := _event(bytes(raw))) is not None])
    except (msgspec.MsgspecError, RecursionError, TypeError, ValueError) as error:
        return Malformed(str(error), sequence)


def _event(data: bytes) -> KvEvent | None:
    """Raises msgspec.DecodeError, TypeError, ValueError."""
    is_array = data[0] & 0xF0 == 0x90 or data[0] in (0xDC, 0xDD)
    told: Any
    try:
        told = _decode_array(data) if is_array else _decode_map(data)
    except msgspec.ValidationError:
        if (_tag_of_array(data) if is_array else _tag_of_map(data)).type in _KNOWN:
            raise
        return None
    if isinstance(told, _Stored):
        return _stored(told)
    if isinstance(told, _Removed):
        return Removed(names=told.block_hashes, medium=told.medium or "", group=told.group_idx or 0)
    return Cleared()


def _stored(told: _Stored) -> Stored | None:
    names: list[Name] = told.block_hashes
    if told.kv_cache_spec_kind is not None and any(part in told.kv_cache_spec_kind for part in _PARTIAL):
        return None
    if len(told.token_ids) != len(names) * told.block_size:  # a window's blocks, from before their kind was told
        return None
    adapter = told.lora_name or ("" if told.lora_id is None else f"\0{told.lora_id}")
    return Stored(
        names=names,
        parent=told.parent_block_hash,
        token_ids=told.token_ids,
        block_tokens=told.block_size,
        adapter=adapter,
        extra=_extra(told.extra_keys, names, adapter),
        medium=told.medium or "",
        group=told.group_idx or 0,
    )


def _extra(keys: list[Any] | None, names: list[Name], adapter: str) -> list[bytes]:
    """The extra keys of each block without the adapter's name, which vLLM puts in front.

    Raises ValueError, and TypeError for what has no one encoding (a map whose keys are no text).
    """
    if keys is None or not any(keys):
        return []
    if len(keys) != len(names):
        raise ValueError(f"extra keys for {len(keys)} blocks of {len(names)}")
    return [_own(each, adapter) for each in keys]


def _own(keys: Any, adapter: str) -> bytes:
    if not isinstance(keys, (list, tuple)):
        return _encode(keys) if keys is not None else b""
    own = list(keys[1:]) if keys and keys[0] == adapter and adapter else list(keys)
    return _encode(own) if own else b""
