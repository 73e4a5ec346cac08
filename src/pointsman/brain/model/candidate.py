"""One candidate of a view, its quantities as floats.

Only the columns that formulas ask for are read; what is derived from them is what `View` derives in arrays.
"""

from typing import Any

from pointsman.brain.model import quantities


class Candidate:
    """One node as one request sees it. `cells` are the fleet's (`view.Cells`), `overlap` is in tokens."""

    def __init__(
        self, cells: Any, row: int, overlap: float, prompt_tokens: float, reserve_tokens: float, ttft_objective: float
    ) -> None:
        self.prompt_tokens = prompt_tokens
        self.reserve_tokens = reserve_tokens
        self.ttft_objective = ttft_objective
        self.overlap = overlap
        self.miss = prompt_tokens - overlap
        self.outstanding: float = cells.outstanding[row]
        self.running: float = cells.running[row]
        self.slots: float = cells.slots[row]
        self.kv_capacity: float = cells.kv_capacity[row]
        self.kv_reserved: float = cells.kv_reserved[row]
        self.block_tokens: float = cells.block_tokens[row]
        self.backlog_tokens: float = cells.backlog_tokens[row]
        self.backlog_pairs: float = cells.backlog_pairs[row]
        self.prefilled_seconds: float = cells.prefilled_seconds[row]
        self.reported_load: float = cells.reported_load[row]
        self.prefill_base: float = cells.prefill_base[row]
        self.prefill_per_token: float = cells.prefill_per_token[row]
        self.prefill_per_pair: float = cells.prefill_per_pair[row]

    @property
    def backlog_seconds(self) -> float:
        seconds: float = quantities.backlog_seconds(self)
        return seconds

    @property
    def prefill_seconds(self) -> float:
        seconds: float = quantities.prefill_seconds(self)
        return seconds

    @property
    def load(self) -> float:
        load: float = quantities.load(self)
        return load

    @property
    def blocks_needed(self) -> float:
        blocks: float = quantities.blocks_needed(self)
        return blocks
