"""What clients ask: sizes, and which prompts begin alike, for the gateway and for engines."""

from itertools import pairwise

from pointsman.sim.demand import LINK_TOKENS, NO_PREFIXES, trace_demand
from pointsman.sim.generated import session_demand
from pointsman.workload.rows import Trace, TraceRow
from pointsman.workload.runs import ids_of

ROWS = (
    TraceRow(0.0, 1024, 10, (1, 2), 512, session="s"),
    TraceRow(1.0, 1500, 10, (1, 2, 3), 512),
    TraceRow(2.0, 600, 0),
    TraceRow(9.0, 600, 5),
)


def trace(*rows: TraceRow, **changes: object) -> Trace:
    return Trace("t.jsonl", "mooncake", rows, **changes)  # type: ignore[arg-type]


def test_every_turn_extends_the_one_before_with_its_answer() -> None:
    demand = session_demand(1, 8.0, 60.0, 32_768)
    dialogue = max(demand.dialogues, key=lambda one: len(one.asks))
    for before, after in pairwise(dialogue.asks):
        held = ids_of(before.runs(16))
        assert len(held) == (before.prompt_tokens + before.output_tokens) // 16
        assert ids_of(after.runs(16))[: len(held)] == held
        first, second = before.chain(), after.chain()
        assert first is not None
        assert second is not None
        assert second.links[: len(first.links)] == first.links
        assert len(first.links) == before.prompt_tokens // LINK_TOKENS


def test_dialogues_share_system_prompts_and_nothing_else() -> None:
    demand = session_demand(1, 8.0, 60.0, 32_768)
    firsts = [ids_of(dialogue.asks[0].runs(16)) for dialogue in demand.dialogues]
    assert 1 < len({blocks[0] for blocks in firsts}) <= 12
    assert len({blocks[-1] for blocks in firsts}) == len(firsts)


def test_a_dialogue_ends_before_the_turn_that_no_engine_could_take() -> None:
    whole, short = session_demand(1, 8.0, 60.0, 32_768), session_demand(1, 8.0, 60.0, 6000)
    assert len(short.dialogues) == len(whole.dialogues)
    assert all(ask.prompt_tokens + ask.output_tokens <= 6000 for one in short.dialogues for ask in one.asks)
    assert "end early" in short.notes[0]


def test_a_trace_is_cut_at_the_seconds_and_keeps_its_blocks() -> None:
    demand = trace_demand(trace(*ROWS), 5.0, 32_768)
    first, second, alone = (dialogue.asks[0] for dialogue in demand.dialogues)
    assert [dialogue.start_s for dialogue in demand.dialogues] == [0.0, 1.0, 2.0]
    assert demand.dialogues[0].session == "s"
    chain = second.chain()
    assert chain is not None
    assert (tuple(chain.links), chain.tokens_per_link) == ((1, 2, 3), 512)
    assert ids_of(second.runs(16))[:64] == ids_of(first.runs(16))
    assert (alone.chain(), alone.runs(16), alone.output_tokens) == (None, (), 1)


def test_what_was_changed_in_a_trace_is_said() -> None:
    demand = trace_demand(trace(*ROWS, skipped=2, first_problem="t, line 3: bad"), 5.0, 1200)
    assert demand.notes == (
        "1 prompts clipped to the engines' limit of 1200 tokens",
        "2 bad rows skipped; the first: t, line 3: bad",
    )


def test_sessions_of_a_trace_run_closed_loop_unless_told_otherwise() -> None:
    rows = (
        TraceRow(0.0, 100, 9, session="a"),
        TraceRow(1.0, 100, 9, session="b"),
        TraceRow(4.0, 200, 9, session="a", think_s=3.5),
    )
    closed, opened = (trace_demand(trace(*rows), 9.0, 32_768, open_loop=how) for how in (False, True))
    assert [[ask.think_s for ask in one.asks] for one in closed.dialogues] == [[0.0, 3.5], [0.0]]
    assert [one.start_s for one in opened.dialogues] == [0.0, 1.0, 4.0]
    assert "sessions in closed loop" in closed.description
    assert "open loop" in opened.description


def test_a_trace_that_tells_no_prefixes_is_told() -> None:
    assert NO_PREFIXES in trace_demand(trace(*ROWS[2:]), 10.0, 8192).notes
    assert NO_PREFIXES not in trace_demand(trace(*ROWS), 10.0, 8192).notes
