"""Ids of blocks: equal exactly where prompts are."""

import msgspec

from pointsman.workload.blocks import ALONE, TEMPLATE_TOKENS, block_id, fitted, session_blocks, trace_blocks
from pointsman.workload.rows import TraceRow
from pointsman.workload.sessions import Session


def session(number: int, prompt: int) -> Session:
    return Session(number, 0.0, prompt, 100, ())


def test_sessions_share_the_blocks_that_lie_wholly_in_their_system_prompt() -> None:
    one, same, other = (session_blocks(session(*pair), 200, 16) for pair in ((1, 7), (2, 7), (3, 8)))
    assert len(one) == 200 // 16
    assert one[:6] == same[:6]
    assert not set(one[6:]) & set(same)
    assert not set(one) & set(other)
    assert session_blocks(session(1, 7), 50, 16) == one[:3], "a prompt shorter than the system prompt"


def test_a_dialogue_only_grows() -> None:
    assert session_blocks(session(1, 7), 400, 16)[:12] == session_blocks(session(1, 7), 200, 16)


def test_trace_blocks_are_cut_into_those_of_the_engine() -> None:
    first = trace_blocks(TraceRow(0.0, 1000, 1, (4, 5), 512), 0, 16)
    second = trace_blocks(TraceRow(0.0, 1000, 1, (4, 6), 512), 1, 16)
    assert len(first) == 1000 // 16
    assert first[:32] == second[:32]
    assert not set(first[32:]) & set(second)


def test_trace_blocks_smaller_than_the_engine_s_count_when_all_of_them_are_there() -> None:
    row = TraceRow(0.0, 100, 1, (1, 2, 3, 4, 5, 6, 7), 16)
    assert trace_blocks(row, 0, 32) == (2, 4, 6)
    assert trace_blocks(msgspec.structs.replace(row, block_ids=(1, 2, 3, 9)), 0, 32) == (2, 9)


def test_rows_without_ids_share_nothing() -> None:
    one, other = (trace_blocks(TraceRow(0.0, 100, 1), number, 16) for number in (1, 2))
    assert one[0] == block_id(ALONE, 1, 0)
    assert not set(one) & set(other)


def test_a_request_is_clipped_to_the_limit_and_keeps_the_rest() -> None:
    row = TraceRow(3.0, 9000, 50, (1,), 512, "s", 2, "m")
    clipped = fitted(row, 4096)
    assert clipped.prompt_tokens == 4096 - TEMPLATE_TOKENS - 50
    assert (clipped.arrival_s, clipped.session, clipped.block_ids) == (3.0, "s", (1,))
    assert fitted(TraceRow(0.0, 10, 0), 4096).output_tokens == 1
    assert fitted(TraceRow(0.0, 10, 9000), 4096).output_tokens == (4096 - TEMPLATE_TOKENS) // 2
