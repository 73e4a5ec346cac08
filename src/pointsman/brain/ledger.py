"""Requests and tokens in flight per node.

A booking is made inside the call that places a request, so the next request already sees it. Every cell that
`book` raises is lowered by `release` in the same file, by the amounts the booking itself remembers, so the sums return
to exactly zero: amounts are whole numbers, and floats add whole numbers without error.

A plain answer shows no first token: its prefill counts as done at its predicted end. Nobody is woken for that. The
booking waits in a heap and is settled when the columns are next read, so it costs no timer.

A node computes one prompt after the other, and the longest take longer than all that wait behind them. So of what is
booked as much counts as done (`prefilled_seconds`) as the node had time for since it turned to the oldest prompt, up
to the end of that prompt. Of its end the gateway hears late: by the rest of a step, by the network, by whatever holds
up its news. All of that is in the base of the node's prefill rates; the node turned to the next prompt so much before,
and may be as far beyond the oldest. What is overdue even so has met something unforeseen, and is taken to need as long
again as it is overdue, the usual guess where nothing is known but how long something has lasted already.
"""

from collections import defaultdict
from math import inf

from mypy_extensions import mypyc_attr

from pointsman.brain.fleet import Fleet


@mypyc_attr(acyclic=True)
class Booking:
    """What one lease holds on one row. Tokens and pairs are whole numbers. Mutated only by the ledger.

    `end` is when its prompt is predicted to be computed (seconds), if that was the `number`-th so predicted.
    """

    __slots__ = ("backlog_pairs", "backlog_tokens", "context_tokens", "end", "number", "open", "row", "running")

    def __init__(self, row: int, backlog_tokens: int, backlog_pairs: int, context_tokens: int) -> None:
        self.row = row
        self.backlog_tokens = backlog_tokens
        self.backlog_pairs = backlog_pairs
        self.context_tokens = context_tokens
        self.running = False
        self.open = True
        self.end = inf
        self.number = 0


class _Ends:
    """Bookings in the order of their ends, then of their numbers: a binary heap, as of `heapq`.

    That one would be given a tuple of objects for each, and compares these one by one.
    """

    __slots__ = ("_heap", "_numbers")

    def __init__(self) -> None:
        self._heap: list[Booking] = []
        self._numbers = 0

    def next(self) -> float:
        """The earliest end, inf for none."""
        return self._heap[0].end if self._heap else inf

    def push(self, booking: Booking, end: float) -> None:
        """Enter a booking that is to end then."""
        self._numbers += 1
        booking.end, booking.number = end, self._numbers
        heap = self._heap
        heap.append(booking)
        at = len(heap) - 1
        while at:
            parent = (at - 1) >> 1
            if not _sooner(booking, heap[parent]):
                break
            heap[at] = heap[parent]
            at = parent
        heap[at] = booking

    def pop(self) -> Booking:
        """Take the one that ends first."""
        heap = self._heap
        first, last = heap[0], heap.pop()
        size, at = len(heap), 0
        if not size:
            return first
        while (child := 2 * at + 1) < size:
            if child + 1 < size and _sooner(heap[child + 1], heap[child]):
                child += 1
            if not _sooner(heap[child], last):
                break
            heap[at] = heap[child]
            at = child
        heap[at] = last
        return first


def _sooner(one: Booking, other: Booking) -> bool:
    return one.end < other.end or (one.end == other.end and one.number < other.number)


class Ledger:
    """Mutates the columns outstanding, running, backlog_*, prefilled_seconds and context_tokens of `fleet`.

    `next_end` is when the next prefill is predicted to end that nothing will show (seconds), inf for none.
    """

    def __init__(self, fleet: Fleet) -> None:
        cells = fleet.cells
        self._outstanding, self._running, self._context_tokens = cells.outstanding, cells.running, cells.context_tokens
        self._backlog_tokens, self._backlog_pairs = cells.backlog_tokens, cells.backlog_pairs
        self._prefilled_seconds, self._base = cells.prefilled_seconds, cells.prefill_base
        self._per_token, self._per_pair = cells.prefill_per_token, cells.prefill_per_pair
        self._prompts: defaultdict[int, dict[Booking, None]] = defaultdict(dict)
        self._turned_at = [0.0] * fleet.capacity
        self._oldest_tokens = [0.0] * fleet.capacity
        self._oldest_pairs = [0.0] * fleet.capacity
        self._ends = _Ends()
        self.next_end = inf

    def book(self, row: int, miss_tokens: int, miss_pairs: int, context_tokens: int, now: float) -> Booking:
        """Count one more request on `row`: tokens to prefill, pairs of one of them and one that it attends to, and
        tokens in its context at the end.
        """
        self._outstanding[row] += 1.0
        self._backlog_tokens[row] += miss_tokens
        self._backlog_pairs[row] += miss_pairs
        self._context_tokens[row] += context_tokens
        booking = Booking(row, miss_tokens, miss_pairs, context_tokens)
        prompts = self._prompts[row]
        prompts[booking] = None
        if len(prompts) == 1:
            self._turn(row, now)
            self._renew(row, now)
        return booking

    def prefilled(self, booking: Booking, now: float) -> None:
        """The prompt is computed (first token seen, or its predicted time has passed). Repeating is harmless."""
        row = booking.row
        prompts = self._prompts[row]
        if booking not in prompts:
            return
        self._backlog_tokens[row] -= booking.backlog_tokens
        self._backlog_pairs[row] -= booking.backlog_pairs
        booking.backlog_tokens = booking.backlog_pairs = 0
        oldest = next(iter(prompts))
        del prompts[booking]
        if oldest is booking:
            self._turn(row, now - self._base[row])
        self._renew(row, now)

    def expect(self, booking: Booking, end: float) -> None:
        """The prompt is predicted to be computed at `end` (seconds)."""
        self._ends.push(booking, end)
        self.next_end = self._ends.next()

    def settle(self, now: float) -> None:
        """Count as computed whatever is predicted to be so at `now`."""
        ends = self._ends
        while ends.next() <= now:
            self.prefilled(ends.pop(), now)
        self.next_end = ends.next()

    def refresh(self, now: float) -> None:
        """Renew how far the nodes are; of one where nothing is booked there is nothing to renew."""
        for row, prompts in self._prompts.items():
            if prompts:
                self._renew(row, now)

    def running(self, booking: Booking, now: float) -> None:
        """The first token was seen. Repeating is harmless."""
        self.prefilled(booking, now)
        if booking.open and not booking.running:
            booking.running = True
            self._running[booking.row] += 1.0

    def release(self, booking: Booking, now: float) -> None:
        """Give everything back. Repeating is harmless."""
        if not booking.open:
            return
        booking.open = False
        self.prefilled(booking, now)
        row = booking.row
        self._outstanding[row] -= 1.0
        self._context_tokens[row] -= booking.context_tokens
        if booking.running:
            self._running[row] -= 1.0

    def _turn(self, row: int, at: float) -> None:
        """The node turned to the oldest of its prompts, if there is one."""
        oldest = next(iter(self._prompts[row]), None)
        self._turned_at[row] = at
        self._oldest_tokens[row] = oldest.backlog_tokens if oldest is not None else 0.0
        self._oldest_pairs[row] = oldest.backlog_pairs if oldest is not None else 0.0

    def _renew(self, row: int, now: float) -> None:
        """How far the node is."""
        per_token, per_pair = self._per_token[row], self._per_pair[row]
        booked = self._backlog_tokens[row] * per_token + self._backlog_pairs[row] * per_pair
        if not booked > 0.0:
            self._prefilled_seconds[row] = 0.0
            return
        elapsed = now - self._turned_at[row]
        due = self._oldest_tokens[row] * per_token + self._oldest_pairs[row] * per_pair + self._base[row]
        done = min(min(elapsed, due), booked) - max(elapsed - due, 0.0)
        self._prefilled_seconds[row] = done
