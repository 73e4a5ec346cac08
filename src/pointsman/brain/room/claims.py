"""Room that is being made for a waiting request, kept for it until it is placed: nobody else is to take it.

A claim reserves its ticket's blocks as a lease would, beyond the node's capacity while those who leave are still there.
"""

from collections.abc import Iterator

import msgspec

from pointsman.brain.cache.pool import Pool
from pointsman.brain.fleet import Fleet
from pointsman.brain.lease import Ticket

CLAIM_SECONDS = 5.0
"""How long room is kept that does not come: well beyond what it takes to abort a request and hear of it."""

_HOLDERS = -(1 << 48)
"""Ids of claims lie below this: leases and warm-ups have those about 0."""


class Claim(msgspec.Struct, frozen=True, gc=False):
    """`blocks` on the node at `row`, of that generation, until a moment (seconds)."""

    row: int
    generation: int
    blocks: int
    until: float


class Claims:
    """By ticket, in the order they were made. Mutates the pool."""

    def __init__(self, fleet: Fleet, pool: Pool) -> None:
        self._fleet = fleet
        self._pool = pool
        self._claims: dict[int, Claim] = {}

    def __bool__(self) -> bool:
        return bool(self._claims)

    def __contains__(self, ticket: int) -> bool:
        return ticket in self._claims

    def __iter__(self) -> Iterator[int]:
        return iter(list(self._claims))

    def row(self, ticket: int) -> int:
        """Where the ticket's room is."""
        return self._claims[ticket].row

    def held(self, row: int) -> int:
        """Blocks that are kept on the node at `row`."""
        return sum(claim.blocks for claim in self._claims.values() if claim.row == row)

    @staticmethod
    def holder(ticket: int) -> int:
        """What the pool knows the ticket's claim by, beside the ids of leases."""
        return _HOLDERS - ticket

    def make(self, ticket: Ticket, row: int, until: float) -> None:
        """Keep room for a ticket that has no claim yet."""
        blocks = self._pool.reserve(row, ticket.prompt_tokens + ticket.reserve_tokens, self.holder(ticket.id))
        self._claims[ticket.id] = Claim(row, self._fleet.generation[row], blocks, until)

    def lift(self, ticket: int) -> Claim:
        """Give the ticket's room free, for a moment or for good; its claim, to be made again."""
        claim = self._claims.pop(ticket)
        if self._fleet.generation[claim.row] == claim.generation:
            self._pool.release(claim.row, claim.blocks, self.holder(ticket))
        return claim

    def drop(self, ticket: int) -> None:
        """The ticket waits no longer. Harmless for one without a claim."""
        if ticket in self._claims:
            self.lift(ticket)

    def expire(self, now: float) -> None:
        """Give free what was kept too long, or on a node that has left."""
        generation = self._fleet.generation
        for ticket, claim in list(self._claims.items()):
            if claim.until <= now or generation[claim.row] != claim.generation:
                self.lift(ticket)
