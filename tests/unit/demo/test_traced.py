"""A trace as demand: rate, clipping, shared prefixes, and saying what was changed."""

import pytest

from pointsman.demo.traced import trace_demand, trace_samples
from pointsman.workload.blocks import TEMPLATE_TOKENS
from pointsman.workload.rows import Trace, TraceRow
from pointsman.workload.text import WORD_BYTES


def trace(*rows, **changes):
    return Trace("t.jsonl", "mooncake", tuple(rows), **changes)


ROWS = (
    TraceRow(0.0, 1000, 10, (1, 2), 512),
    TraceRow(1.0, 1400, 10, (1, 2, 3), 512),
    TraceRow(2.0, 600, 0),
    TraceRow(3.0, 9000, 50, tuple(range(10, 28)), 512),
)


def test_requests_keep_their_order_and_get_the_rate():
    demand = trace_demand(trace(*ROWS), 2.0, 2.0, 32_768)
    assert [dialogue.start_s for dialogue in demand.dialogues] == pytest.approx([0, 2 / 3, 4 / 3, 2])
    assert "4 leading requests of t.jsonl, open loop, 1.50 times as fast" in demand.description
    assert demand.notes == ()


def test_shared_blocks_are_a_shared_prefix_and_lengths_are_kept():
    lines = [dialogue.lines[0] for dialogue in trace_demand(trace(*ROWS), 2.0, 2.0, 32_768).dialogues]
    assert [len(line.text) // WORD_BYTES for line in lines] == [1000, 1400, 600, 9000]
    assert lines[1].text.startswith(lines[0].text)
    assert [line.output_tokens for line in lines] == [10, 10, 1, 50]


def test_what_exceeds_the_engine_is_clipped_and_said():
    demand = trace_demand(trace(*ROWS), 2.0, 2.0, 4096)
    assert len(demand.dialogues[3].lines[0].text) // WORD_BYTES == 4096 - TEMPLATE_TOKENS - 50
    assert demand.notes == ("1 prompts clipped to the engines' limit of 4096 tokens",)


def test_skipped_rows_are_said():
    demand = trace_demand(trace(*ROWS, skipped=3, first_problem="t, line 7: bad"), 2.0, 2.0, 32_768)
    assert demand.notes == ("3 bad rows skipped; the first: t, line 7: bad",)


def test_engine_samples_share_hashes_where_texts_share_blocks():
    samples = trace_samples(trace(*ROWS), 32_768, 16)
    assert samples[0].hashes == samples[1].hashes[: len(samples[0].hashes)]
    assert len(samples[0].hashes) == 1000 // 16
    assert not set(samples[2].hashes) & set(samples[1].hashes)
    assert all(len(sample.hashes) == sample.prompt_tokens // 16 for sample in samples)
