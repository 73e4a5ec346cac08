"""Blocks of KV memory per node: reserved by live leases, cached and evictable, free.

The engine itself decides what it evicts; `cached` is what the prefix index believes, cut to what live leases leave.
What is neither reserved nor cached is free.
"""

from pointsman.brain.fleet import Fleet


class Pool:
    """Mutates the columns kv_capacity, kv_reserved and kv_cached of `fleet`. Amounts are whole blocks."""

    def __init__(self, fleet: Fleet) -> None:
        self._cells = fleet.cells

    def resize(self, row: int, blocks: float) -> None:
        """The node's capacity is `blocks` (inf = unknown)."""
        self._cells.kv_capacity[row] = blocks
        self._fit_cached(row)

    def reserve(self, row: int, tokens: float) -> int:
        """A lease takes the blocks that hold `tokens`, rounded up; returns how many.

        The engine queues what does not fit, so reserved may exceed the capacity.
        """
        blocks = -int(-tokens // self._cells.block_tokens[row])
        self._cells.kv_reserved[row] += blocks
        self._fit_cached(row)
        return blocks

    def release(self, row: int, blocks: int) -> None:
        """A lease gives `blocks` back."""
        self._cells.kv_reserved[row] -= blocks

    def cached(self, row: int, tokens: float) -> None:
        """The index believes `tokens` of prefixes on `row`."""
        self._cells.kv_cached[row] = tokens // self._cells.block_tokens[row]
        self._fit_cached(row)

    def _fit_cached(self, row: int) -> None:
        cells = self._cells
        room = cells.kv_capacity[row] - cells.kv_reserved[row]
        if cells.kv_cached[row] > room:
            cells.kv_cached[row] = max(0.0, room)
