"""Requests and tokens in flight per node.

A booking is made inside the call that places a request, so the next request already sees it. Every cell that
`book` raises is lowered by `release` in the same file, by the amounts the booking itself remembers, so the sums return
to exactly zero: amounts are whole numbers, and floats add whole numbers without error.

A plain answer shows no first token: its prefill counts as done at its predicted end. Nobody is woken for that. The
booking waits in a heap and is settled when the columns are next read, so it costs no timer.
"""

from heapq import heappop, heappush
from math import inf

from pointsman.brain.fleet import Fleet


class Booking:
    """What one lease holds on one row. Tokens are whole numbers. Mutated only by the ledger."""

    __slots__ = ("backlog_tokens", "context_tokens", "open", "row", "running")

    def __init__(self, row: int, backlog_tokens: int, context_tokens: int) -> None:
        self.row = row
        self.backlog_tokens = backlog_tokens
        self.context_tokens = context_tokens
        self.running = False
        self.open = True


class Ledger:
    """Mutates the columns outstanding, running, backlog_tokens and context_tokens of `fleet`.

    `next_end` is when the next prefill is predicted to end that nothing will show (seconds), inf for none.
    """

    def __init__(self, fleet: Fleet) -> None:
        self._cells = fleet.cells
        self._ends: list[tuple[float, int, Booking]] = []
        self._expected = 0
        self.next_end = inf

    def book(self, row: int, miss_tokens: int, context_tokens: int) -> Booking:
        """Count one more request on `row` with so many tokens to prefill and so many in its context at the end."""
        cells = self._cells
        cells.outstanding[row] += 1.0
        cells.backlog_tokens[row] += miss_tokens
        cells.context_tokens[row] += context_tokens
        return Booking(row, miss_tokens, context_tokens)

    def prefilled(self, booking: Booking) -> None:
        """The prompt is computed (first token seen, or its predicted time has passed). Repeating is harmless."""
        self._cells.backlog_tokens[booking.row] -= booking.backlog_tokens
        booking.backlog_tokens = 0

    def expect(self, booking: Booking, end: float) -> None:
        """The prompt is predicted to be computed at `end` (seconds)."""
        self._expected += 1
        heappush(self._ends, (end, self._expected, booking))
        self.next_end = self._ends[0][0]

    def settle(self, now: float) -> None:
        """Count as computed whatever is predicted to be so at `now`."""
        ends = self._ends
        while ends and ends[0][0] <= now:
            self.prefilled(heappop(ends)[2])
        self.next_end = ends[0][0] if ends else inf

    def running(self, booking: Booking) -> None:
        """The first token was seen. Repeating is harmless."""
        self.prefilled(booking)
        if booking.open and not booking.running:
            booking.running = True
            self._cells.running[booking.row] += 1.0

    def release(self, booking: Booking) -> None:
        """Give everything back. Repeating is harmless."""
        if not booking.open:
            return
        booking.open = False
        self.prefilled(booking)
        cells = self._cells
        cells.outstanding[booking.row] -= 1.0
        cells.context_tokens[booking.row] -= booking.context_tokens
        if booking.running:
            cells.running[booking.row] -= 1.0
