"""Recordings as traces: sizes, arrivals, and which leading blocks are equal."""

import msgspec
import pytest

from pointsman.workload.recording import BLOCK_TOKENS, Recorded, as_trace, bytes_per_token, recorded
from pointsman.workload.rows import TraceError


def line(timestamp: float = 0.0, **more: object) -> Recorded:
    usual: dict[str, object] = {"input_length": 640, "output_length": 20, "outcome": "ok"}
    return Recorded(timestamp=timestamp, **usual | more)  # type: ignore[arg-type]


def test_a_line_reads_as_it_was_written() -> None:
    one = line(1_700_000_000_123.5, hash_ids=(2**53 - 1, 7), bytes_per_hash=256, node="a", cached_length=0)
    assert recorded(msgspec.json.encode(one).decode()) == one


def test_a_line_is_one_of_mooncakes_too() -> None:
    keys = msgspec.json.decode(msgspec.json.encode(line(hash_ids=(1,), tokens_per_hash=512.0))).keys()
    assert {"timestamp", "input_length", "output_length", "hash_ids"} <= keys


@pytest.mark.parametrize("wrong", ['{"timestamp": 1}', '{"timestamp": -1, "input_length": 1}', "{", "[]"])
def test_bad_lines_are_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        recorded(wrong)


def test_requests_come_in_order_and_begin_at_zero() -> None:
    trace = as_trace("r", [line(5000.0, output_length=5), line(2000.0, output_length=2)])
    assert [(row.arrival_s, row.output_tokens) for row in trace.rows] == [(0.0, 2), (3.0, 5)]
    assert trace.format == "recording"


def test_chunks_of_tokens_stay_as_they_are() -> None:
    rows = as_trace(
        "r",
        [
            line(input_length=50, hash_ids=(11, 12, 13), tokens_per_hash=16.0),
            line(input_length=33, hash_ids=(11, 14), tokens_per_hash=16.0),
        ],
    ).rows
    assert [row.tokens_per_block for row in rows] == [16, 16]
    assert [len(row.block_ids) for row in rows] == [3, 2]
    assert rows[0].block_ids[0] == rows[1].block_ids[0]
    assert rows[0].block_ids[1] != rows[1].block_ids[1]


def test_chunks_of_bytes_become_blocks_of_tokens() -> None:
    """5 bytes a token: a chunk of 256 has 51.2 tokens, so ten share 512 tokens, eight blocks of 64."""
    shared, own = tuple(range(100, 110)), tuple(range(200, 205))
    lines = [
        line(input_length=768, input_bytes=3840, hash_ids=shared + own, bytes_per_hash=256),
        line(input_length=512, input_bytes=2560, hash_ids=shared, bytes_per_hash=256),
    ]
    assert bytes_per_token(lines) == {"": 5.0}
    first, second = as_trace("r", lines).rows
    assert first.tokens_per_block == second.tokens_per_block == BLOCK_TOKENS
    assert len(first.block_ids) == 12
    assert second.block_ids == first.block_ids[:8]


def test_a_chunk_that_holds_two_blocks_gives_them_two_ids() -> None:
    row = as_trace("r", [line(input_length=640, input_bytes=1280, hash_ids=(1, 2, 3, 4, 5), bytes_per_hash=256)]).rows[
        0
    ]
    assert len(set(row.block_ids)) == len(row.block_ids) == 10


def test_each_model_has_its_own_bytes_per_token() -> None:
    lines = [line(model="a", input_length=100, input_bytes=400), line(model="b", input_length=100, input_bytes=300)]
    assert bytes_per_token(lines) == {"a": 4.0, "b": 3.0}


def test_what_told_no_length_was_work_as_usual() -> None:
    lines = [line(output_length=10), line(output_length=30), line(output_length=0, outcome="cancelled")]
    assert [row.output_tokens for row in as_trace("r", lines).rows] == [10, 30, 20]
    assert as_trace("r", lines[2:]).rows[0].output_tokens == 1


def test_what_engines_refused_is_no_work() -> None:
    assert len(as_trace("r", [line(), line(output_length=0, status=400)]).rows) == 1
    with pytest.raises(TraceError, match="not one request"):
        as_trace("r", [line(output_length=0, status=400)])
