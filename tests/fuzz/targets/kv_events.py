"""KV events: whatever the payload, it is a batch or one value that says what is wrong, and a cache can take it."""

import json
from pathlib import Path

import msgspec

from pointsman.brain.cache.reported import Naming, ReportedCache
from pointsman.brain.model.kv_events import KvBatch
from pointsman.wire.kv_events import Malformed, read_message, read_replayed

VLLM = Path(__file__).parents[2] / "fixtures" / "vllm"
SEEDS = [
    bytes.fromhex(json.loads(line)["payload"])[:2000] for line in (VLLM / "kv_events.jsonl").read_text().splitlines()
]
SEEDS += [
    msgspec.msgpack.encode([1.0, [["BlockStored", [7, b"x"], None, [1, 2, 3, 4], 2, None, "GPU", "x", [["x"], None]]]]),
    msgspec.msgpack.encode([1.0, [["BlockRemoved", [7], "GPU", 0], ["AllBlocksCleared"], {"type": "New"}], 3]),
]
WORDS = (
    b"BlockStored", b"BlockRemoved", b"AllBlocksCleared", b"block_hashes", b"parent_block_hash", b"token_ids",
    b"block_size", b"lora_name", b"extra_keys", b"group_idx", b"medium", b"type", b"\x93", b"\x83", b"\xc0", b"\xdc\0",
)  # fmt: skip


def check(data: bytes) -> None:
    batch = read_message([b"", bytes(8), data])
    assert isinstance(batch, KvBatch | Malformed)
    assert read_replayed([b"", b"", bytes(8), data]) == batch
    if isinstance(batch, KvBatch):
        cache = ReportedCache("n", Naming(1, 16))
        for event in batch.events:
            cache.take(event)
        change = cache.change()
        assert len(change.went) <= len(change.came)
