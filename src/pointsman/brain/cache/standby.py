"""Memory that nodes keep for one class of requests, and what its requests hold of theirs.

What a class is promised on a node is a total: what its requests hold there counts towards it. So a request takes its
blocks out of those kept ready, at once, and leaves them ready for the next one when it ends.
"""

from math import inf

from pointsman.brain.cache.demand import Demand


class Standby:
    """One class. Amounts are blocks of the row's node. Mutated by `Preallocation` only."""

    __slots__ = ("demand", "kept", "least", "model", "nodes", "promised", "up_to_tokens", "used")

    def __init__(self, model: str, up_to_tokens: float, least: int, nodes: int) -> None:
        self.model = model
        self.up_to_tokens = up_to_tokens
        self.least = least
        self.nodes = nodes
        self.demand = Demand()
        self.promised: dict[int, int] = {}
        self.used: dict[int, int] = {}
        self.kept: dict[int, int] = {}

    def requests(self, memory_s: float, unused_s: float, now: float) -> int:
        """Requests to keep memory for on each of its nodes. A class that had none is unused since this was asked."""
        if self.demand.seen_at == inf:
            self.demand.seen_at = now
        if now - self.demand.seen_at > unused_s:
            return 0
        present = self.demand.present(memory_s, now)
        return max(self.least, -(-present // self.nodes))

    def take(self, row: int, blocks: int) -> None:
        """A request of the class begins on `row`: it gets what is kept there, as far as it goes."""
        self.used[row] = self.used.get(row, 0) + blocks
        self.kept[row] = max(0, self.kept.get(row, 0) - blocks)

    def give(self, row: int, blocks: int) -> None:
        """It has ended."""
        self.used[row] = self.used.get(row, 0) - blocks

    def wanted(self, row: int) -> int:
        """Blocks to be kept ready on `row`: what is promised and not in use."""
        return max(0, self.promised.get(row, 0) - self.used.get(row, 0))

    def forget(self, row: int) -> None:
        """The node at `row` has left, or its blocks are others now."""
        for amounts in (self.promised, self.used, self.kept):
            amounts.pop(row, None)
