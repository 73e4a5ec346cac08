"""Recordings as traces: sizes, arrivals, and which leading blocks are equal."""

import pytest
from msgspec.structs import replace

from pointsman.workload.blocks import answered_runs, trace_runs
from pointsman.workload.recording import BLOCK_TOKENS, as_trace
from pointsman.workload.recording_line import Recorded
from pointsman.workload.rows import TraceError
from pointsman.workload.runs import ids_of


def line(timestamp: float = 0.0, **more: object) -> Recorded:
    usual: dict[str, object] = {"input_length": 640, "output_length": 20, "outcome": "ok"}
    return Recorded(timestamp=timestamp, **usual | more)  # type: ignore[arg-type]


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
    """5 bytes a token: a chunk of 256 has 51.2 tokens, so ten share 512 tokens, sixteen blocks of 32."""
    shared, own = tuple(range(100, 110)), tuple(range(200, 205))
    lines = [
        line(input_length=768, input_bytes=3840, hash_ids=shared + own, bytes_per_hash=256),
        line(input_length=512, input_bytes=2560, hash_ids=shared, bytes_per_hash=256),
    ]
    first, second = as_trace("r", lines).rows
    assert first.tokens_per_block == second.tokens_per_block == BLOCK_TOKENS
    assert len(first.block_ids) == 24
    assert second.block_ids == first.block_ids[:16]


def test_a_chunk_that_holds_several_blocks_gives_each_an_id() -> None:
    row = as_trace("r", [line(input_length=640, input_bytes=1280, hash_ids=(1, 2, 3, 4, 5), bytes_per_hash=256)]).rows[
        0
    ]
    assert len(set(row.block_ids)) == len(row.block_ids) == 20


def test_what_told_no_length_was_work_as_usual() -> None:
    lines = [line(output_length=10), line(output_length=30), line(output_length=0, outcome="cancelled")]
    assert [row.output_tokens for row in as_trace("r", lines).rows] == [10, 30, 20]
    assert as_trace("r", lines[2:]).rows[0].output_tokens == 1


def test_what_engines_refused_is_no_work() -> None:
    assert len(as_trace("r", [line(), line(output_length=0, status=400)]).rows) == 1
    with pytest.raises(TraceError, match="not one request"):
        as_trace("r", [line(output_length=0, status=400)])


def dialogue() -> list[Recorded]:
    """Two turns of tokens: 128 in, 64 out; then 256 in, 30 s later; and a stranger between them."""
    return [
        line(0.0, input_length=130, output_length=64, hash_ids=tuple(range(8)), tokens_per_hash=16.0, total_ms=4000.0),
        line(9000.0, input_length=130, hash_ids=tuple(range(50, 58)), tokens_per_hash=16.0, stream=True, tenant="t"),
        line(34_000.0, input_length=260, hash_ids=tuple(range(16)), tokens_per_hash=16.0, priority=2.0),
    ]


def test_a_dialogue_is_a_session_with_its_pause() -> None:
    first, stranger, second = as_trace("r", dialogue()).rows
    assert first.session == second.session != ""
    assert (first.turn, first.think_s, second.turn, second.think_s) == (0, None, 1, 30.0)
    assert (stranger.session, stranger.tenant, stranger.plain, first.plain) == ("", "t", False, True)
    assert second.priority == 2.0


def test_an_answer_that_is_asked_on_is_cached_as_part_of_the_next_prompt() -> None:
    first, _, second = as_trace("r", dialogue()).rows
    assert first.answered_ids == second.block_ids[:12]
    assert second.answered_ids == ()
    assert ids_of(answered_runs(first, 0, 16)) == ids_of(trace_runs(second, 0, 16))[:12]
    assert answered_runs(second, 0, 16) == trace_runs(second, 0, 16)


def test_dialogues_of_one_session_stay_apart() -> None:
    lines = [replace(one, session_id=7) for one in dialogue()]
    first, stranger, second = as_trace("r", lines).rows
    assert first.session == second.session != stranger.session
    assert stranger.session.startswith("7-")
