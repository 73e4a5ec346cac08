"""Mooncake traces: jsonl `timestamp` (ms), `input_length`, `output_length`, `hash_ids` (one per 512 tokens), and where
present `session_id` (kvcache-ai/Mooncake, FAST'25). Recordings made by the gateway use the same fields and add their
own, which are ignored here. Published stamps fall into buckets of three seconds."""

from typing import Annotated

import msgspec

from .rows import FormatName, TraceRow

TOKENS_PER_BLOCK = 512


class _Line(msgspec.Struct, frozen=True):
    timestamp: Annotated[float, msgspec.Meta(ge=0)]
    input_length: Annotated[int, msgspec.Meta(ge=1)]
    output_length: Annotated[int, msgspec.Meta(ge=0)]
    hash_ids: tuple[int, ...] = ()
    session_id: str | int | None = None
    model: str | None = None


class MooncakeFormat:
    """Parses lines of one file."""

    name: FormatName = "mooncake"
    coarse = True

    def __init__(self) -> None:
        self._decoder = msgspec.json.Decoder(_Line)

    def parse(self, line: str) -> TraceRow:
        """One JSON line to a row. Raises ValueError saying what is wrong with the line."""
        row = self._decoder.decode(line)
        if len(row.hash_ids) > -(-row.input_length // TOKENS_PER_BLOCK):
            raise ValueError(f"{len(row.hash_ids)} hash_ids for {row.input_length} tokens in blocks of 512")
        return TraceRow(
            arrival_s=row.timestamp / 1000,
            prompt_tokens=row.input_length,
            output_tokens=row.output_length,
            block_ids=row.hash_ids,
            tokens_per_block=TOKENS_PER_BLOCK if row.hash_ids else 0,
            session="" if row.session_id is None else str(row.session_id),
            model=row.model or "",
        )
