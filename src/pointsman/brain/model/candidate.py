"""One candidate of a view, its quantities as floats.

Of the columns those are read that most formulas ask for, the others when they are asked for. What is derived from them
is what `View` derives in arrays, by the same IEEE operations in the same order, so that the results are equal to the
last bit. They are spelt out once more because compiled code works on plain floats in a tenth of the time it takes for
objects.
"""

from math import ceil

from mypy_extensions import mypyc_attr

from pointsman.brain.model.columns import Cells


@mypyc_attr(acyclic=True)
class Candidate:
    """One node as one request sees it, until something is booked. `overlap` is in tokens."""

    def __init__(
        self,
        cells: Cells,
        row: int,
        overlap: float,
        prompt_tokens: float,
        reserve_tokens: float,
        ttft_objective: float,
    ) -> None:
        self._cells = cells
        self._row = row
        self.prompt_tokens = prompt_tokens
        self.reserve_tokens = reserve_tokens
        self.ttft_objective = ttft_objective
        self.overlap = overlap
        self.miss = prompt_tokens - overlap
        self.outstanding = cells.outstanding[row]
        self.running = cells.running[row]
        self.slots = cells.slots[row]
        self.kv_capacity = cells.kv_capacity[row]
        self.kv_reserved = cells.kv_reserved[row]
        self.block_tokens = cells.block_tokens[row]
        self.backlog_tokens = cells.backlog_tokens[row]
        self.backlog_pairs = cells.backlog_pairs[row]
        self.prefilled_seconds = cells.prefilled_seconds[row]
        self.reported_load = cells.reported_load[row]
        self.prefill_base = cells.prefill_base[row]
        self.prefill_per_token = cells.prefill_per_token[row]
        self.prefill_per_pair = cells.prefill_per_pair[row]

    @property
    def kv_cached(self) -> float:
        return self._cells.kv_cached[self._row]

    @property
    def context_tokens(self) -> float:
        return self._cells.context_tokens[self._row]

    @property
    def service_seconds(self) -> float:
        return self._cells.service_seconds[self._row]

    @property
    def tpot_base(self) -> float:
        return self._cells.tpot_base[self._row]

    @property
    def tpot_per_sequence(self) -> float:
        return self._cells.tpot_per_sequence[self._row]

    @property
    def tpot_per_context(self) -> float:
        return self._cells.tpot_per_context[self._row]

    @property
    def prediction_error(self) -> float:
        return self._cells.prediction_error[self._row]

    @property
    def room_tokens(self) -> float:
        """Tokens the blocks not held by live requests could take, free or evictable."""
        return (self.kv_capacity - self.kv_reserved) * self.block_tokens

    @property
    def backlog_seconds(self) -> float:
        """Seconds of booked prefill ahead of this request: the time until the node would turn to it."""
        work = self.backlog_tokens * self.prefill_per_token + self.backlog_pairs * self.prefill_per_pair
        return work - self.prefilled_seconds

    @property
    def prefill_seconds(self) -> float:
        """Seconds to compute this request's uncached tokens, linear and attention part."""
        pairs = (self.overlap + self.prompt_tokens) * self.prefill_per_pair * 0.5
        return (pairs + self.prefill_per_token) * self.miss + self.prefill_base

    @property
    def load(self) -> float:
        """max(KV share, outstanding/slots, backlog seconds/TTFT objective, the server's own figure)."""
        most, held = self.outstanding / self.slots, self.kv_reserved / self.kv_capacity
        waited = self.backlog_seconds * (1.0 / self.ttft_objective)
        most = held if held > most else most
        most = waited if waited > most else most
        return self.reported_load if self.reported_load > most else most

    @property
    def blocks_needed(self) -> float:
        """Blocks to be newly allocated: prompt and reserved output less what is cached, rounded up."""
        return float(ceil((self.miss + self.reserve_tokens) / self.block_tokens))
