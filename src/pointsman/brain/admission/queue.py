"""One waiting queue: first come, first served, with a bound on overtaking.

Strategy: tickets wait in a dictionary by id, which keeps their order, so leaving from any place costs nothing. A policy
that binds late may take any of the first `window` tickets; each older one it passes counts the overtake, and a
ticket overtaken too often is the only one offered until it is placed.
"""

from itertools import islice


class Queue:
    """Waiting ticket ids, oldest first. Mutated by the dispatcher only."""

    def __init__(self, overtake_limit: int) -> None:
        self._overtake_limit = overtake_limit
        self._overtaken: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._overtaken)

    def __bool__(self) -> bool:
        return bool(self._overtaken)

    @property
    def head(self) -> int:
        """The ticket that has waited longest. The queue must not be empty."""
        return next(iter(self._overtaken))

    def join(self, ticket: int) -> int:
        """Wait at the end; the position (1 = next)."""
        self._overtaken[ticket] = 0
        return len(self._overtaken)

    def leave(self, ticket: int) -> bool:
        """Leave without being placed; false if the ticket was not here."""
        return self._overtaken.pop(ticket, None) is not None

    def window(self, size: int) -> list[int]:
        """The tickets that may be taken now: the oldest `size`, or the head alone once it was overtaken too often."""
        if self._overtaken[self.head] >= self._overtake_limit:
            return [self.head]
        return list(islice(self._overtaken, size))

    def take(self, ticket: int) -> None:
        """The ticket is placed: everyone older has been overtaken once more."""
        for older in self._overtaken:
            if older == ticket:
                break
            self._overtaken[older] += 1
        del self._overtaken[ticket]
