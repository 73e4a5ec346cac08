"""vLLM's benchmark traces: told from Mooncake's by their blocks, or by settings."""

import pytest

from pointsman.workload.rows import TraceError
from pointsman.workload.timed_trace import TimedTraceFormat
from pointsman.workload.traces import read_trace

LINES = (
    '{"timestamp": 10, "input_length": 64, "output_length": 9, "hash_ids": [1, 2, 3, 4]}',
    '{"timestamp": 11.5, "input_length": 32, "output_length": 9, "hash_ids": [1, 2]}',
)
COARSE = '{"timestamp": 1000, "input_length": 64, "output_length": 9, "hash_ids": [1]}'


def test_more_ids_than_large_blocks_make_it_one_of_small_blocks_in_seconds():
    trace = read_trace(LINES, "t")
    assert trace.format == "timed_trace"
    assert [row.arrival_s for row in trace.rows] == [0.0, 1.5]
    assert [row.tokens_per_block for row in trace.rows] == [16, 16]
    assert read_trace([COARSE], "t").format == "mooncake"


def test_settings_say_what_the_file_does_not():
    trace = read_trace([COARSE, COARSE.replace("1000", "3000")], "t", timed=TimedTraceFormat(64, 1e-3))
    assert trace.format == "timed_trace"
    assert trace.rows[1].arrival_s == pytest.approx(2.0)
    assert trace.rows[0].tokens_per_block == 64


def test_ids_beyond_the_prompt_are_an_error_of_that_line():
    with pytest.raises(TraceError, match="t, line 1: 4 hash_ids for 64 tokens in blocks of 32"):
        read_trace(LINES, "t", timed=TimedTraceFormat(32))
