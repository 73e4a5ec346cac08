"""Which blocks of which prompts are equal, without any text: an id for every block of tokens.

Equal ids mean equal prefixes up to and including the block, as engines' chained hashes do. Ids of one block size say
nothing about those of another.
"""

import msgspec

from .rows import TraceRow
from .sessions import Session

TEMPLATE_TOKENS = 64
"""Room for what a chat template adds around a prompt."""
SYSTEM, DIALOGUE, ALONE = 1, 2, 3
"""Namespaces of ids: a shared system prompt, one dialogue's own text, text that nothing else begins with."""


def block_id(kind: int, number: int, place: int) -> int:
    """An id that no other triple has, for places below 65,536; neighbouring places have neighbouring ids."""
    return kind << 56 | number << 16 | place


def session_blocks(session: Session, tokens: int, block_tokens: int) -> tuple[int, ...]:
    """Ids of the leading full blocks of a dialogue that has grown to `tokens`.

    A dialogue only grows, so a block is known by its place in it, or in the system prompt it lies in wholly.
    """
    blocks = tokens // block_tokens
    shared = min(session.system_tokens // block_tokens, blocks)
    system, own = block_id(SYSTEM, session.system_prompt, 0), block_id(DIALOGUE, session.number, 0)
    return (*range(system, system + shared), *range(own + shared, own + blocks))


def trace_blocks(row: TraceRow, number: int, block_tokens: int) -> tuple[int, ...]:
    """Ids of the full blocks of request `number`'s prompt: parts of the trace block they lie in, or what the last of
    those tells that they hold; its own where the trace tells nothing.

    One of the two sizes should divide the other.
    """
    blocks = row.prompt_tokens // block_tokens
    if not row.block_ids:
        alone = block_id(ALONE, number, 0)
        return tuple(range(alone, alone + blocks))
    if block_tokens > row.tokens_per_block:
        held = block_tokens // row.tokens_per_block
        return tuple(row.block_ids[held - 1 :: held][:blocks])
    parts = row.tokens_per_block // block_tokens
    return tuple([block * parts + part for block in row.block_ids for part in range(parts)][:blocks])


def answered_blocks(row: TraceRow, number: int, block_tokens: int) -> tuple[int, ...]:
    """Ids of the full blocks of prompt and answer together, where the trace tells the answer's; else of the prompt."""
    if not row.answered_ids:
        return trace_blocks(row, number, block_tokens)
    tokens = row.prompt_tokens + row.output_tokens
    grown = msgspec.structs.replace(row, prompt_tokens=tokens, block_ids=row.answered_ids)
    return trace_blocks(grown, number, block_tokens)


def fitted(row: TraceRow, most_tokens: int) -> TraceRow:
    """The request with its prompt, and if need be its answer, clipped to an engine's limit of `most_tokens`."""
    room = most_tokens - TEMPLATE_TOKENS
    output = min(max(row.output_tokens, 1), room // 2)
    return msgspec.structs.replace(row, prompt_tokens=min(row.prompt_tokens, room - output), output_tokens=output)
