"""Reading published trace formats: values, order, errors that name the line, and fitting to a rate."""

from itertools import pairwise
from pathlib import Path

import pytest

from pointsman.workload.rows import TraceError
from pointsman.workload.traces import at_rate, leading, part_of, read_recordings, read_trace, repeated

AZURE = """TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:17:03.9799600,4808,10
2023-11-16 18:17:04.4799600,110,27
"""
AZURE_2024 = """TIMESTAMP,ContextTokens,GeneratedTokens
2024-05-10 00:00:00.500000+00:00,2162,5
2024-05-10 00:00:02.000000+00:00,2399,6
"""
BURSTGPT = """Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type
5,s1,1.2,ChatGPT,472,18,490,Conversation log
5,s2,1.2,ChatGPT,1087,230,1317,Conversation log
9,s1,1.2,GPT-4,417,0,417,API log
"""
MOONCAKE = """{"timestamp": 3000, "input_length": 600, "output_length": 50, "hash_ids": [0, 1]}
{"timestamp": 3000, "input_length": 512, "output_length": 40, "hash_ids": [0], "session_id": "a"}
{"timestamp": 3000, "input_length": 100, "output_length": 30, "hash_ids": [2]}
{"timestamp": 6000, "input_length": 100, "output_length": 30, "hash_ids": [3]}
"""
BAILIAN = """{"chat_id": 7, "parent_chat_id": -1, "timestamp": 0.5, "input_length": 40, "output_length": 9, "type": "text", "turn": 1, "hash_ids": [1, 2, 3]}
{"chat_id": 9, "parent_chat_id": 7, "timestamp": 4.5, "input_length": 64, "output_length": 9, "type": "text", "turn": 2, "hash_ids": [1, 2, 3, 4]}
{"chat_id": 11, "parent_chat_id": 9, "timestamp": 8.5, "input_length": 80, "output_length": 9, "type": "text", "turn": 3, "hash_ids": [1, 2, 3, 4, 5]}
"""  # noqa: E501
TRACES = Path(__file__).parents[4] / "shared" / "traces"


def test_azure_counts_seconds_from_its_first_row():
    trace = read_trace(AZURE.splitlines(), "azure.csv")
    assert trace.format == "azure"
    assert [row.arrival_s for row in trace.rows] == pytest.approx([0.0, 0.5], abs=1e-6)
    assert [(row.prompt_tokens, row.output_tokens) for row in trace.rows] == [(4808, 10), (110, 27)]
    assert trace.rows[0].block_ids == ()


def test_azure_stamps_with_a_zone_are_read_too():
    trace = read_trace(AZURE_2024.splitlines(), "azure.csv")
    assert trace.seconds == pytest.approx(1.5)


def test_burstgpt_spreads_whole_seconds_and_keeps_failures():
    trace = read_trace(BURSTGPT.splitlines(), "burst.csv")
    assert trace.format == "burstgpt"
    assert [row.arrival_s for row in trace.rows] == [0.0, 2.0, 4.0]
    assert [row.session for row in trace.rows] == ["s1", "s2", "s1"]
    assert trace.rows[2].output_tokens == 0
    assert trace.rows[2].model == "GPT-4"


def test_burstgpt_without_the_session_columns():
    lines = ["Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type", "5,ChatGPT,472,18,490,API log"]
    assert read_trace(lines, "burst.csv").rows[0].session == ""


def test_mooncake_spreads_its_buckets():
    trace = read_trace(MOONCAKE.splitlines(), "trace.jsonl")
    assert trace.format == "mooncake"
    assert [row.arrival_s for row in trace.rows] == pytest.approx([0, 1, 2, 3])
    assert trace.rows[0].block_ids == (0, 1)
    assert trace.rows[0].tokens_per_block == 512
    assert trace.rows[1].session == "a"


def test_bailian_turns_of_one_dialogue_share_its_session():
    trace = read_trace(BAILIAN.splitlines(), "qwen.jsonl")
    assert trace.format == "bailian"
    assert {row.session for row in trace.rows} == {"7"}
    assert [row.turn for row in trace.rows] == [0, 1, 2]
    assert trace.rows[0].tokens_per_block == 16


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        (AZURE + "2023-11-16 18:17:05,many,3\n", 4, "ContextTokens is 'many'"),
        (AZURE + "2023-11-16 18:17:05,0,3\n", 4, "ContextTokens is 0, below 1"),
        (AZURE + "yesterday,5,3\n", 4, "yesterday"),
        (AZURE + "\n2023-11-16 18:17:05,5\n", 5, "2 cells where the header has 3"),
        (BURSTGPT + "nan,s,1,GPT-4,1,1,2,API log\n", 5, "not a number of seconds"),
        (MOONCAKE + '{"timestamp": 7000, "input_length": 100}\n', 5, "output_length"),
        (MOONCAKE + '{"timestamp": -1, "input_length": 100, "output_length": 1}\n', 5, "timestamp"),
        (MOONCAKE + '{"timestamp": 1, "input_length": 100, "output_length": 1, "hash_ids": [1, 2]}\n', 5, "2 hash_ids"),
        (MOONCAKE + "{oops\n", 5, "malformed"),
        (BAILIAN + '{"chat_id": 1, "timestamp": "x", "input_length": 1, "output_length": 1}\n', 4, "timestamp"),
    ],
)
def test_a_bad_row_names_file_line_and_problem_or_is_counted(text, line, problem):
    with pytest.raises(TraceError, match=rf"^f\.x, line {line}: .*{problem}"):
        read_trace(text.splitlines(), "f.x")
    trace = read_trace(text.splitlines(), "f.x", lenient=True)
    assert trace.skipped == 1
    assert f"line {line}" in trace.first_problem


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "empty"),
        ("\n  \n", "empty"),
        ("a,b,c\n1,2,3\n", "no known format"),
        ('{"a": 1}\n', "fit no known format"),
        ("{oops\n", "line 1"),
        ("TIMESTAMP,ContextTokens,GeneratedTokens\n", "not one readable row"),
        ("TIMESTAMP,ContextTokens,GeneratedTokens\nx,y,z\n", "not one readable row"),
    ],
)
def test_a_file_without_rows_is_refused_even_when_lenient(text, problem):
    with pytest.raises(TraceError, match=problem):
        read_trace(text.splitlines(), "f.x", lenient=True)


def test_a_first_row_that_is_none_puts_the_file_in_doubt():
    with pytest.raises(TraceError, match=r"line 2: .*; is it the file you mean"):
        read_trace(["TIMESTAMP,ContextTokens,GeneratedTokens", "x,y,z"], "f.x")
    with pytest.raises(TraceError, match=r"line 3: .*; --lenient skips"):
        read_trace([*AZURE.splitlines()[:2], "x,y,z"], "f.x")


def test_rows_out_of_order_are_sorted():
    lines = AZURE.splitlines()
    trace = read_trace([lines[0], lines[2], lines[1]], "azure.csv")
    assert [row.prompt_tokens for row in trace.rows] == [4808, 110]


def test_a_byte_order_mark_does_not_hide_the_header():
    assert read_trace(("\ufeff" + AZURE).splitlines(), "azure.csv").format == "azure"


def test_leading_rows_at_a_wanted_rate():
    trace = at_rate(leading(read_trace(MOONCAKE.splitlines(), "m.jsonl"), 3), 10.0)
    assert len(trace.rows) == 3
    assert trace.seconds == pytest.approx(0.3)


def test_one_instant_has_no_rate():
    with pytest.raises(TraceError, match="one instant"):
        at_rate(leading(read_trace(MOONCAKE.splitlines(), "m.jsonl"), 1), 10.0)


@pytest.mark.skipif(not TRACES.is_dir(), reason="the published traces are not beside the repository")
@pytest.mark.parametrize(
    ("file", "rows"), [("mooncake_conversation_trace.jsonl", 12_031), ("AzureLLMInferenceTrace_code_2023.csv", 8_819)]
)
def test_published_traces_are_read_whole(file, rows):
    with (TRACES / file).open() as lines:
        trace = read_trace(lines, file)
    assert len(trace.rows) == rows
    assert all(a.arrival_s <= b.arrival_s for a, b in pairwise(trace.rows))
    gaps = [b.arrival_s - a.arrival_s for a, b in pairwise(trace.rows)]
    assert sum(gap == 0 for gap in gaps) < 0.01 * rows


@pytest.mark.parametrize("first", ["", '{"timestamp":0,"input_length":1,"output_length":1,"hash_ids":[]}\n'])
def test_deep_nesting_is_a_bad_row(first):
    deep = '{"timestamp":0,"else":' + "[" * 50_000 + "]" * 50_000 + "}"
    with pytest.raises(TraceError, match=f"line {2 if first else 1}"):
        read_trace([line for line in (first, deep) if line], "f.x")


def test_a_later_turn_may_say_its_delay_in_place_of_a_stamp():
    lines = [
        '{"session_id": "a", "timestamp": 1000, "input_length": 10, "output_length": 5}',
        '{"session_id": "a", "delay": 2500, "input_length": 20, "output_length": 5}',
    ]
    first, second = read_trace(lines, "m.jsonl").rows
    assert (first.think_s, second.think_s) == (None, 2.5)
    assert (first.turn, second.turn, second.arrival_s) == (0, 1, 2.5)
    with pytest.raises(TraceError, match="line 2: there is no timestamp, nor a delay after an earlier row"):
        read_trace([lines[0], lines[1].replace('"a"', '"b"')], "m.jsonl")


def test_a_part_begins_at_zero():
    trace = read_trace(MOONCAKE.splitlines(), "m.jsonl")
    part = part_of(trace, 1, 2)
    assert [row.prompt_tokens for row in part.rows] == [512, 100]
    assert [row.arrival_s for row in part.rows] == [0.0, 1.0]
    assert part_of(trace, 0, None) == trace
    with pytest.raises(TraceError, match=r"m\.jsonl: nothing is left of its 4 requests from number 4 on"):
        part_of(trace, 4, None)


def test_a_repeated_trace_keeps_its_rate_and_prompts_but_not_its_sessions():
    trace = read_trace(MOONCAKE.splitlines(), "m.jsonl")
    twice = repeated(trace, 2)
    assert [row.arrival_s for row in twice.rows] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    assert [row.block_ids for row in twice.rows[4:]] == [row.block_ids for row in trace.rows]
    assert [row.session for row in twice.rows if row.session] == ["a", "a+1"]


RECORDING = """{"timestamp": 7000, "input_length": 40, "output_length": 9, "outcome": "ok", "total_ms": 3.5}
{"timestamp": 5000, "input_length": 64, "output_length": 9, "outcome": "ok", "hash_ids": [9], "tokens_per_hash": 16}
"""


def test_a_recording_is_recognised_by_its_outcome():
    trace = read_trace(RECORDING.splitlines(), "r.jsonl")
    assert trace.format == "recording"
    assert [(row.arrival_s, row.prompt_tokens) for row in trace.rows] == [(0.0, 64), (2.0, 40)]


def test_a_bad_row_of_a_recording_is_named_or_counted():
    lines = [*RECORDING.splitlines(), '{"timestamp": 1']
    with pytest.raises(TraceError, match=r"r\.jsonl, line 3: .*; --lenient skips"):
        read_trace(lines, "r.jsonl")
    trace = read_trace(lines, "r.jsonl", lenient=True)
    assert (len(trace.rows), trace.skipped) == (2, 1)


def test_several_recordings_are_read_together():
    first, second = RECORDING.splitlines()
    rows, problems = read_recordings({"a": [first], "b": ["{", second]}, lenient=True)
    assert [row.timestamp for row in rows] == [7000, 5000]
    assert problems[0].startswith("b, line 1")
    with pytest.raises(TraceError, match="b: not one readable row"):
        read_recordings({"a": [first], "b": []})
