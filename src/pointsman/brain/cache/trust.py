"""How much of a node's declared room for prefixes to believe in, learned from what engines report as cached.

A node that shows fewer cached tokens than the index predicted evicts sooner than the LRU model thinks: its memory is
smaller, or shared with requests we do not see. Each such answer shrinks the believed room, each good one restores a
little. Only prompts predicted to be mostly cached count: those are later turns, whose earlier turn has long been
computed; a short shared prefix may simply not be computed yet when the next request arrives.
"""

SHRINK = 0.9
GROW = 1.02
LEAST = 0.05
"""Room is never believed smaller than this share of what is declared."""
MOSTLY = 0.5
"""Share of the prompt that must be predicted as cached, and share of the prediction that must be met."""


class Trust:
    """A factor in 0.05..1 per row on the room in links."""

    def __init__(self) -> None:
        self._factor: dict[int, float] = {}

    def of(self, row: int) -> float:
        """The factor of `row`, 1 until an answer disagreed."""
        return self._factor.get(row, 1.0)

    def observe(self, row: int, prompt_tokens: float, predicted: float, cached: float) -> None:
        """An answer said `cached` where the index had `predicted` (tokens)."""
        if predicted < MOSTLY * prompt_tokens:
            return
        factor = self.of(row) * (GROW if cached >= MOSTLY * predicted else SHRINK)
        self._factor[row] = min(1.0, max(LEAST, factor))

    def forget(self, row: int) -> None:
        """The node restarted, left, or changed its capacity."""
        self._factor.pop(row, None)
