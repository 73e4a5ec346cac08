"""vLLM's benchmark traces (`vllm bench serve --dataset-name timed_trace`): jsonl `timestamp`, `input_length`,
`output_length`, `hash_ids`.

The fields are Mooncake's; what they mean is said beside the file there: an id stands for
`--timed-trace-chunk-hash-size` tokens (16 by default), a stamp counts `--timed-trace-sec-multiplier` seconds (1 by
default)."""

from typing import Annotated

import msgspec

from .mooncake import check_blocks
from .rows import FormatName, HashId, TraceRow

TOKENS_PER_BLOCK = 16


class _Line(msgspec.Struct, frozen=True):
    timestamp: Annotated[float, msgspec.Meta(ge=0)]
    input_length: Annotated[int, msgspec.Meta(ge=1)]
    output_length: Annotated[int, msgspec.Meta(ge=0)]
    hash_ids: tuple[HashId, ...] = ()


class TimedTraceFormat:
    """Parses lines of one file whose ids stand for `tokens_per_block` tokens and whose stamps count `unit_s`."""

    name: FormatName = "timed_trace"
    coarse = False

    def __init__(self, tokens_per_block: int = TOKENS_PER_BLOCK, unit_s: float = 1.0) -> None:
        self._decoder = msgspec.json.Decoder(_Line)
        self._tokens_per_block = tokens_per_block
        self._unit_s = unit_s

    def parse(self, line: str) -> TraceRow:
        """One JSON line to a row. Raises ValueError saying what is wrong with the line."""
        row = self._decoder.decode(line)
        check_blocks(len(row.hash_ids), row.input_length, self._tokens_per_block)
        return TraceRow(
            arrival_s=row.timestamp * self._unit_s,
            prompt_tokens=row.input_length,
            output_tokens=row.output_length,
            block_ids=row.hash_ids,
            tokens_per_block=self._tokens_per_block if row.hash_ids else 0,
        )
