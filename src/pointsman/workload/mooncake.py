"""Mooncake traces: jsonl `timestamp` (ms), `input_length`, `output_length`, `hash_ids` (one per 512 tokens), and where
present `session_id` and `delay` (kvcache-ai/Mooncake, FAST'25; NVIDIA AIPerf). Published stamps fall into buckets of
three seconds. The later turns of a session may have a `delay` (ms after the answer before) in place of a `timestamp`.
Recordings made by the gateway have the same fields and more, and are read by `recording.py`."""

from typing import Annotated

import msgspec

from .rows import FormatName, HashId, TraceRow

TOKENS_PER_BLOCK = 512

_NotNegative = Annotated[float, msgspec.Meta(ge=0)]


class _Line(msgspec.Struct, frozen=True):
    input_length: Annotated[int, msgspec.Meta(ge=1)]
    output_length: Annotated[int, msgspec.Meta(ge=0)]
    timestamp: _NotNegative | None = None
    delay: _NotNegative | None = None
    hash_ids: tuple[HashId, ...] = ()
    session_id: str | int | None = None
    model: str | None = None


class MooncakeFormat:
    """Parses lines of one file; remembers when each session was last heard of."""

    name: FormatName = "mooncake"
    coarse = True

    def __init__(self) -> None:
        self._decoder = msgspec.json.Decoder(_Line)
        self._last: dict[str, float] = {}
        self._turns: dict[str, int] = {}

    def parse(self, line: str) -> TraceRow:
        """One JSON line to a row. Raises ValueError saying what is wrong with the line."""
        row = self._decoder.decode(line)
        check_blocks(len(row.hash_ids), row.input_length, TOKENS_PER_BLOCK)
        session = "" if row.session_id is None else str(row.session_id)
        arrival, turn = self._arrival(row, session), self._turns.get(session, -1) + 1
        if session:
            self._last[session], self._turns[session] = arrival, turn
        return TraceRow(
            arrival_s=arrival,
            prompt_tokens=row.input_length,
            output_tokens=row.output_length,
            block_ids=row.hash_ids,
            tokens_per_block=TOKENS_PER_BLOCK if row.hash_ids else 0,
            session=session,
            turn=turn if session else 0,
            think_s=None if row.delay is None else row.delay / 1000,
            model=row.model or "",
        )

    def _arrival(self, row: _Line, session: str) -> float:
        """Its stamp in seconds; without one, as soon after the session's last row as its delay allows."""
        if row.timestamp is not None:
            return row.timestamp / 1000
        if row.delay is None or session not in self._last:
            raise ValueError("there is no timestamp, nor a delay after an earlier row of the same session_id")
        return self._last[session] + row.delay / 1000


def check_blocks(ids: int, tokens: int, tokens_per_block: int) -> None:
    """Raises ValueError where there are more ids than a prompt of so many tokens has blocks."""
    if ids > -(-tokens // tokens_per_block):
        raise ValueError(f"{ids} hash_ids for {tokens} tokens in blocks of {tokens_per_block}")
