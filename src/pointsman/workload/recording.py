"""From lines of a recording to a trace.

A gateway counts chunks of prompts in bytes, unless prompts are token ids. Here they are laid out anew, as blocks of
equal size in tokens: block j is as equal in two prompts as the chunk in which it ends (`chunk_tokens.py` tells which).

Dialogues are recognised by their prompts. A turn's pause is known, as the recording tells when the answer before it
ended; and of an answer that is asked on, the blocks are those of the next prompt.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from .chunk_tokens import ChunkTokens
from .dialogues import Turn, turns_of
from .recording_line import Recorded
from .rows import Trace, TraceError, TraceRow

BLOCK_TOKENS = 32
"""Tokens of the blocks that chunks of bytes become: half of what a chunk has, and a multiple of engines' blocks."""

ROUNDING = 1e-6


def as_trace(name: str, lines: Iterable[Recorded], skipped: int = 0, first_problem: str = "") -> Trace:
    """The requests in order of arrival, the first at second 0, those that engines refused left out.

    A request that ended without saying how long its answer was gets the mean length of those that did: it was work
    too. Raises TraceError when nothing is left.
    """
    rows = tuple(row for _, row in paired(lines))
    if not rows:
        raise TraceError(f"{name}: not one request that an engine took")
    return Trace(name, "recording", rows, skipped, first_problem)


def paired(lines: Iterable[Recorded]) -> list[tuple[Recorded, TraceRow]]:
    """Each line that was work with its row, in order of arrival."""
    ordered = sorted((one for one in lines if one.is_work), key=lambda one: one.timestamp)
    reader = _Reader(ordered)
    return [(line, reader.row(number)) for number, line in enumerate(ordered)]


def _usual_output(lines: Sequence[Recorded]) -> int:
    known = [one.output_length for one in lines if one.output_length]
    return round(sum(known) / len(known)) if known else 1


class _Reader:
    """Makes rows of lines, which are in order of arrival."""

    def __init__(self, lines: Sequence[Recorded]) -> None:
        self._lines = lines
        self._turns = turns_of(lines)
        self._usual = _usual_output(lines)
        self._blocks = _Blocks(lines)
        self._ids = [self._blocks.of(line) for line in lines]

    def row(self, number: int) -> TraceRow:
        """The request of that number."""
        line, turn, ids = self._lines[number], self._turns[number], self._ids[number]
        return TraceRow(
            arrival_s=line.arrival_s - self._lines[0].arrival_s,
            prompt_tokens=line.input_length,
            output_tokens=line.output_length or self._usual,
            block_ids=ids,
            tokens_per_block=self._blocks.tokens(line) if ids else 0,
            session=self._session(line, turn),
            turn=turn.turn,
            model=line.model,
            think_s=self._pause(line, turn),
            answered_ids=self._answered(line, turn),
            tenant=line.tenant,
            priority=line.priority,
            plain=not line.stream,
        )

    def _session(self, line: Recorded, turn: Turn) -> str:
        """Of its dialogue: what clients call a session may be several, side by side."""
        alone = turn.before is turn.after is None
        return "" if alone and line.session_id is None else f"{line.session_id or 'dialogue'}-{turn.dialogue}"

    def _pause(self, line: Recorded, turn: Turn) -> float | None:
        if turn.before is None:
            return None
        before = self._lines[turn.before]
        return (line.timestamp - before.timestamp - (before.total_ms or 0.0)) / 1000

    def _answered(self, line: Recorded, turn: Turn) -> tuple[int, ...]:
        """Blocks of prompt and answer, as the next prompt has them."""
        if turn.after is None:
            return ()
        tokens = line.input_length + line.output_length
        return self._ids[turn.after][: tokens // self._blocks.tokens(self._lines[turn.after])]


class _Blocks:
    """Gives hashes short ids, equal for equal prefixes, and chunks of bytes their place among blocks of tokens."""

    def __init__(self, lines: Sequence[Recorded]) -> None:
        self._chunks = ChunkTokens(lines)
        self._ids: dict[tuple[int, int], int] = {}

    def tokens(self, one: Recorded) -> int:
        """Tokens of each of its blocks."""
        size = one.tokens_per_hash
        return int(size) if size and size.is_integer() else BLOCK_TOKENS

    def of(self, one: Recorded) -> tuple[int, ...]:
        if not one.hash_ids or not (one.tokens_per_hash or one.bytes_per_hash):
            return ()
        size, ends = self.tokens(one), self._chunks.ends(one)
        count = min(int(ends[-1] / size + ROUNDING), one.input_length // size)
        held_by = np.searchsorted(ends, np.arange(1, count + 1) * size - ROUNDING).tolist()
        ids = self._ids
        return tuple([ids.setdefault((one.hash_ids[link], block), len(ids)) for block, link in enumerate(held_by)])
