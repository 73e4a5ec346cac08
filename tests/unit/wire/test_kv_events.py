"""KV events as engines publish them."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.brain.model.kv_events import Cleared, KvBatch, Removed, Stored
from pointsman.wire.kv_events import Malformed, read_message, read_replayed, replay_request, text_extra

VLLM = Path(__file__).parents[2] / "fixtures" / "vllm"
pack = msgspec.msgpack.encode


def message(events: list[Any], *rest: Any, sequence: int = 0) -> list[bytes]:
    return [b"kv", sequence.to_bytes(8, "big"), pack([1.5, events, *rest])]


def events_of(*events: Any, rank: int | None = None) -> list[Any]:
    batch = read_message(message(list(events), rank))
    assert isinstance(batch, KvBatch), batch
    return list(batch.events)


def recorded() -> list[list[bytes]]:
    lines = [json.loads(line) for line in (VLLM / "kv_events.jsonl").read_text().splitlines()]
    return [[b"", line["sequence"].to_bytes(8, "big"), bytes.fromhex(line["payload"])] for line in lines]


def test_what_a_real_vllm_published() -> None:
    batches = [read_message(frames) for frames in recorded()]
    assert all(isinstance(batch, KvBatch) for batch in batches)
    first = batches[0]
    assert isinstance(first, KvBatch)
    (event,) = first.events
    assert isinstance(event, Stored)
    assert (event.parent, event.block_tokens, event.medium, event.group, event.adapter, event.extra) == (
        None, 32, "GPU", 0, "", []
    )  # fmt: skip
    assert len(event.token_ids) == 32
    assert batches[-1] == KvBatch(10, [Cleared()])


MAPS = [
    {"type": "BlockStored", "block_hashes": [7, b"x"], "parent_block_hash": 3, "token_ids": [1, 2, 3, 4],
     "block_size": 2, "lora_id": None, "medium": "GPU", "lora_name": "x", "extra_keys": [["x", "salt"], ["x"]],
     "group_idx": 1, "something_new": {"a": 1}},
    {"type": "BlockRemoved", "block_hashes": [b"x"], "medium": "CPU", "group_idx": 1, "new": 1},
    {"type": "AllBlocksCleared", "new": 1},
]  # fmt: skip
ARRAYS = [
    ["BlockStored", [7, b"x"], 3, [1, 2, 3, 4], 2, None, "GPU", "x", [["x", "salt"], ["x"]], 1, "full_attention", 0, 9],
    ["BlockRemoved", [b"x"], "CPU", 1, "new"],
    ["AllBlocksCleared", "new"],
]


@pytest.mark.parametrize("form", [MAPS, ARRAYS])
def test_maps_and_arrays_say_the_same_and_what_is_new_in_them_is_passed_over(form: list[Any]) -> None:
    assert events_of(*form) == [
        Stored(names=[7, b"x"], parent=3, token_ids=[1, 2, 3, 4], block_tokens=2, adapter="x",
               extra=[text_extra("salt"), b""], medium="GPU", group=1),
        Removed(names=[b"x"], medium="CPU", group=1),
        Cleared(),
    ]  # fmt: skip


def test_the_first_versions_told_less() -> None:
    """vLLM 0.9: neither medium nor adapter's name; a number names it, which no request can."""
    stored, removed = events_of(["BlockStored", [1], None, [1, 2], 2, 5], ["BlockRemoved", [1]])
    assert (stored.adapter, stored.medium, removed.medium) == ("\x005", "", "")


def test_kinds_of_events_that_are_new_are_passed_over() -> None:
    assert events_of(["BlockMoved", 1], {"type": "BlockPinned", "x": 1}, ["AllBlocksCleared"]) == [Cleared()]


@pytest.mark.parametrize("kind", ["sliding_window", "chunked_local_attention", "mamba"])
def test_blocks_that_are_given_up_behind_a_window_say_nothing_of_a_beginning(kind: str) -> None:
    assert events_of(["BlockStored", [1], None, [1, 2], 2, None, "GPU", None, None, 1, kind]) == []


def test_an_image_is_part_of_what_separates_a_block() -> None:
    (event,) = events_of(["BlockStored", [1, 2], None, [1, 2], 1, None, "GPU", None, [None, [["hash", 0]]]])
    assert event.extra[0] == b""
    assert event.extra[1] not in (b"", text_extra("hash"))


def test_of_another_rank_only_the_number_counts() -> None:
    frames = message([["AllBlocksCleared"]], 1, sequence=4)
    assert read_message(frames, rank=0) == KvBatch(4, ())
    assert read_message(frames, rank=1) == KvBatch(4, [Cleared()])
    assert read_message(frames) == KvBatch(4, [Cleared()])


@pytest.mark.parametrize(
    ("frames", "reason"),
    [
        ([b"", b"12345678"], "a message of 2 frames"),
        ([b"", b"1", b""], "a sequence of 1 bytes"),
        ([b"", b"\xff" * 8, b""], "a sequence below 0"),
        (message([{"type": "BlockStored"}]), "missing required field"),
        (message([["BlockStored", ["name"], None, [1], 1]]), "Expected `int | bytes`, got `str`"),
        (message([["BlockStored", [1], None, [-1], 1]]), "Expected `int` >= 0"),
        (message([["BlockStored", [1], None, [], 0]]), "Expected `int` >= 1"),
        (message([["BlockStored", [1, 2], None, [1, 2], 1, None, "GPU", None, [["a"]]]]), "extra keys for 1 blocks"),
        (message([[]]), "Expected `array` of at least length 1"),
        (message([7]), "Expected `object`, got `int`"),
        ([b"", bytes(8), b"\x93"], "truncated"),
    ],
)
def test_what_cannot_be_read_is_told_in_one_value(frames: list[bytes], reason: str) -> None:
    told = read_message(frames)
    assert isinstance(told, Malformed)
    assert reason in told.reason


def test_a_malformed_payload_keeps_its_number() -> None:
    assert read_message([b"", (9).to_bytes(8, "big"), b"\xc1"]) == Malformed(
        "MessagePack data is malformed: invalid opcode '\\xc1' (byte 0)", 9
    )


@given(cut=st.integers(0, 400), flip=st.integers(0, 400), byte=st.integers(0, 255))
def test_a_payload_that_is_cut_or_damaged_is_a_value_too(cut: int, flip: int, byte: int) -> None:
    payload = bytearray(pack([1.5, [*MAPS, *ARRAYS], 0]))
    payload[flip % len(payload)] = byte
    for damaged in (bytes(payload), bytes(payload[:cut])):
        assert isinstance(read_message([b"", bytes(8), damaged]), KvBatch | Malformed)


def test_replies_to_a_replay_with_and_without_a_topic() -> None:
    batch = [(2).to_bytes(8, "big"), pack([1.5, [["AllBlocksCleared"]]])]
    end = [b"\xff" * 8, b""]
    for front in ([b"", b"topic"], [b""], [b"", b""], []):
        assert read_replayed([*front, *batch]) == KvBatch(2, [Cleared()])
        assert read_replayed([*front, *end]) is None
    assert isinstance(read_replayed([b""]), Malformed)
    assert replay_request(258) == [b"", b"\0\0\0\0\0\0\1\2"]


@pytest.mark.parametrize(
    "odd", [{1: 2, "a": 3}, {b"a": {2: 1}}, msgspec.Raw(b"\x81\x91\x01\x02"), msgspec.Raw(b"\xc1")]
)
def test_extra_keys_that_have_no_one_encoding_cannot_be_read(odd: object) -> None:
    """Whoever follows the stream goes on: nothing is raised."""
    stored = ["BlockStored", [1], None, [1, 2], 2, None, "GPU", None, [[odd]]]
    assert isinstance(read_message(message([stored])), Malformed)
