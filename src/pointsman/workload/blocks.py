"""Which blocks of which prompts are equal, without any text: an id for every block of tokens.

Equal ids mean equal prefixes up to and including the block, as engines' chained hashes do. Ids of one block size say
nothing about those of another.
"""

import msgspec

from .rows import TraceRow
from .runs import Runs, divided, ids_of, runs_of
from .sessions import Session

TEMPLATE_TOKENS = 64
"""Room for what a chat template adds around a prompt."""
SYSTEM, DIALOGUE, ALONE = 1, 2, 3
"""Namespaces of ids: a shared system prompt, one dialogue's own text, text that nothing else begins with."""


def block_id(kind: int, number: int, place: int) -> int:
    """An id that no other triple has, for places below 65,536; neighbouring places have neighbouring ids."""
    return kind << 56 | number << 16 | place


def session_runs(session: Session, tokens: int, block_tokens: int) -> Runs:
    """Ids of the leading full blocks of a dialogue that has grown to `tokens`.

    A dialogue only grows, so a block is known by its place in it, or in the system prompt it lies in wholly.
    """
    blocks = tokens // block_tokens
    shared = min(session.system_tokens // block_tokens, blocks)
    system, own = block_id(SYSTEM, session.system_prompt, 0), block_id(DIALOGUE, session.number, shared)
    return tuple([run for run in ((system, shared), (own, blocks - shared)) if run[1]])


def session_blocks(session: Session, tokens: int, block_tokens: int) -> tuple[int, ...]:
    """The same ids, one by one."""
    return tuple(ids_of(session_runs(session, tokens, block_tokens)))


def trace_runs(row: TraceRow, number: int, block_tokens: int) -> Runs:
    """Ids of the full blocks of request `number`'s prompt: parts of the trace block they lie in, or what the last of
    those tells that they hold; its own where the trace tells nothing.

    One of the two sizes should divide the other.
    """
    blocks = row.prompt_tokens // block_tokens
    if not row.block_ids:
        return ((block_id(ALONE, number, 0), blocks),) if blocks else ()
    if block_tokens > row.tokens_per_block:
        held = block_tokens // row.tokens_per_block
        return runs_of(row.block_ids[held - 1 :: held][:blocks])
    return divided(runs_of(row.block_ids), row.tokens_per_block // block_tokens, blocks)


def trace_blocks(row: TraceRow, number: int, block_tokens: int) -> tuple[int, ...]:
    """The same ids, one by one."""
    return tuple(ids_of(trace_runs(row, number, block_tokens)))


def answered_runs(row: TraceRow, number: int, block_tokens: int) -> Runs:
    """Ids of the full blocks of prompt and answer together, where the trace tells the answer's; else of the prompt."""
    if not row.answered_ids:
        return trace_runs(row, number, block_tokens)
    tokens = row.prompt_tokens + row.output_tokens
    grown = msgspec.structs.replace(row, prompt_tokens=tokens, block_ids=row.answered_ids)
    return trace_runs(grown, number, block_tokens)


def fitted(row: TraceRow, most_tokens: int) -> TraceRow:
    """The request with its prompt, and if need be its answer, clipped to an engine's limit of `most_tokens`."""
    room = most_tokens - TEMPLATE_TOKENS
    output = min(max(row.output_tokens, 1), room // 2)
    return msgspec.structs.replace(row, prompt_tokens=min(row.prompt_tokens, room - output), output_tokens=output)
