"""A real trace as the demonstration's workload: the leading requests, open loop, at a rate that fits the fleet."""

from pointsman.engine.virtual import Sample
from pointsman.workload.rows import Trace, TraceRow
from pointsman.workload.text import block_text, prompt_text
from pointsman.workload.traces import at_rate, leading

from .demand import Demand, Dialogue, Line

TEMPLATE_TOKENS = 64  # room for what a chat template adds around the prompt
_ALONE = 3 << 56  # namespace of prompts that share nothing


def trace_samples(trace: Trace, most_tokens: int, block_size: int) -> list[Sample]:
    """Every request as an engine sees it, clipped to its limit. The engine's block size should divide the trace's."""
    rows = [_clipped(row, most_tokens) for row in trace.rows]
    return [
        Sample(row.prompt_tokens, row.output_tokens, _hashes(row, number, block_size))
        for number, row in enumerate(rows)
    ]


def trace_demand(trace: Trace, requests_per_second: float, seconds: float, most_tokens: int) -> Demand:
    """The leading requests that fill `seconds` at the given rate; their own gaps, all stretched alike.

    Lengths stay as they are unless prompt and answer exceed `most_tokens`: then the prompt is clipped, and a note says
    how often.
    """
    part = at_rate(leading(trace, max(2, round(requests_per_second * seconds))), requests_per_second)
    rows = [_clipped(row, most_tokens) for row in part.rows]
    clipped = sum(row.prompt_tokens != before.prompt_tokens for row, before in zip(rows, part.rows, strict=True))
    squeezed = leading(trace, len(rows)).seconds / part.seconds
    return Demand(
        dialogues=tuple(Dialogue(row.arrival_s, "", (_line(row, number),)) for number, row in enumerate(rows)),
        description=f"{len(rows)} leading requests of {trace.name}, open loop, {squeezed:.2f} times as fast",
        notes=(
            *([f"{clipped} prompts clipped to the engines' limit of {most_tokens} tokens"] if clipped else []),
            *([f"{trace.skipped} bad rows skipped; the first: {trace.first_problem}"] if trace.skipped else []),
        ),
    )


def _clipped(row: TraceRow, most_tokens: int) -> TraceRow:
    room = most_tokens - TEMPLATE_TOKENS
    output = min(max(row.output_tokens, 1), room // 2)
    prompt = min(row.prompt_tokens, room - output)
    return TraceRow(row.arrival_s, prompt, output, row.block_ids, row.tokens_per_block)


def _line(row: TraceRow, number: int) -> Line:
    if not row.block_ids:
        return Line(block_text(_ALONE | number, row.prompt_tokens), row.output_tokens)
    covered = min(row.prompt_tokens, len(row.block_ids) * row.tokens_per_block)
    text = prompt_text(row.block_ids, row.tokens_per_block, covered)
    return Line(text + block_text(_ALONE | number, row.prompt_tokens - covered), row.output_tokens)


def _hashes(row: TraceRow, number: int, block_size: int) -> tuple[int, ...]:
    """One hash per full engine block: a part of the trace block it lies in, else its own."""
    if not row.block_ids:
        return tuple(_ALONE | number << 16 | place for place in range(row.prompt_tokens // block_size))
    parts = row.tokens_per_block // block_size
    blocks = [block * parts + part for block in row.block_ids for part in range(parts)]
    return tuple(blocks[: row.prompt_tokens // block_size])
