"""Requests and tokens in flight per node.

A booking is made inside the call that places a request, so the next request already sees it. Every cell that
`book` raises is lowered by `release` in the same file, by the amounts the booking itself remembers, so the sums return
to exactly zero: amounts are whole numbers, and floats add whole numbers without error.
"""

import msgspec

from pointsman.brain.fleet import Fleet


class Booking(msgspec.Struct, gc=False):
    """What one lease holds on one row. Tokens are whole numbers. Mutated only by the ledger."""

    row: int
    backlog_tokens: int
    context_tokens: int
    running: bool = False
    open: bool = True


class Ledger:
    """Mutates the columns outstanding, running, backlog_tokens and context_tokens of `fleet`."""

    def __init__(self, fleet: Fleet) -> None:
        self._cells = fleet.cells

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
