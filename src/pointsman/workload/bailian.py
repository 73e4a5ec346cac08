"""Bailian (Qwen) traces: jsonl `chat_id, parent_chat_id, timestamp` (s)`, input_length, output_length, type, turn,
hash_ids` (one per 16 tokens) (alibaba-edu/qwen-bailian-usagetraces-anon). Turns of one dialogue are linked by
`parent_chat_id`, -1 at its root; here the root's chat id is the session."""

from typing import Annotated

import msgspec

from .rows import FormatName, HashId, TraceRow

TOKENS_PER_BLOCK = 16


class _Line(msgspec.Struct, frozen=True):
    chat_id: int
    timestamp: Annotated[float, msgspec.Meta(ge=0)]
    input_length: Annotated[int, msgspec.Meta(ge=1)]
    output_length: Annotated[int, msgspec.Meta(ge=0)]
    parent_chat_id: int = -1
    turn: int = 1
    hash_ids: tuple[HashId, ...] = ()


class BailianFormat:
    """Parses lines of one file; remembers which dialogue each chat id belongs to."""

    name: FormatName = "bailian"
    coarse = False

    def __init__(self) -> None:
        self._decoder = msgspec.json.Decoder(_Line)
        self._root: dict[int, int] = {}

    def parse(self, line: str) -> TraceRow:
        """One JSON line to a row. Raises ValueError saying what is wrong with the line."""
        row = self._decoder.decode(line)
        root = self._root[row.chat_id] = self._root.get(row.parent_chat_id, row.chat_id)
        return TraceRow(
            arrival_s=row.timestamp,
            prompt_tokens=row.input_length,
            output_tokens=row.output_length,
            block_ids=row.hash_ids,
            tokens_per_block=TOKENS_PER_BLOCK if row.hash_ids else 0,
            session=str(root),
            turn=max(row.turn - 1, 0),
        )
