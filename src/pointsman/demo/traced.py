"""A real trace as the demonstration's workload: the leading requests, open loop, at a rate that fits the fleet."""

from pointsman.engine.virtual import Sample
from pointsman.workload.blocks import ALONE, block_id, fitted, trace_blocks
from pointsman.workload.rows import Trace, TraceRow
from pointsman.workload.text import block_text, prompt_text
from pointsman.workload.traces import at_rate, leading

from .demand import Demand, Dialogue, Line


def trace_samples(trace: Trace, most_tokens: int, block_size: int) -> list[Sample]:
    """Every request as an engine sees it, clipped to its limit. The engine's block size should divide the trace's."""
    rows = [fitted(row, most_tokens) for row in trace.rows]
    return [
        Sample(row.prompt_tokens, row.output_tokens, trace_blocks(row, number, block_size))
        for number, row in enumerate(rows)
    ]


def trace_demand(trace: Trace, requests_per_second: float, seconds: float, most_tokens: int) -> Demand:
    """The leading requests that fill `seconds` at the given rate; their own gaps, all stretched alike.

    Lengths stay as they are unless prompt and answer exceed `most_tokens`: then the prompt is clipped, and a note says
    how often.
    """
    part = at_rate(leading(trace, max(2, round(requests_per_second * seconds))), requests_per_second)
    rows = [fitted(row, most_tokens) for row in part.rows]
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


def _line(row: TraceRow, number: int) -> Line:
    if not row.block_ids:
        return Line(block_text(block_id(ALONE, 0, number), row.prompt_tokens), row.output_tokens)
    covered = min(row.prompt_tokens, len(row.block_ids) * row.tokens_per_block)
    text = prompt_text(row.block_ids, row.tokens_per_block, covered)
    return Line(text + block_text(block_id(ALONE, 0, number), row.prompt_tokens - covered), row.output_tokens)
