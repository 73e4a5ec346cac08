"""What requests that give way leave in a node's other memory, so that it need not be computed again.

Strategy: the request's blocks are copied while it still runs; when that is confirmed, or has failed, it is asked to
leave. The engine finds the copies by what they hold, so nobody need order them back: a request that goes on there
counts them as cached, and gets them when it is scheduled, which is when there is room.
"""

from collections.abc import Container

import msgspec

from pointsman.brain.commanding import Commanding
from pointsman.brain.fleet import Fleet
from pointsman.brain.lease import Lease
from pointsman.brain.model.commands import Obeyed, SwapOut
from pointsman.brain.model.reports import NodeReport

THERE_AND_BACK = 2.0
"""Times that each block is copied."""
NEVER = float("inf")


class Leaving(msgspec.Struct, frozen=True, gc=False):
    """A lease whose blocks are being copied, to leave for `cause`: of a ticket, on a row, `tokens` of it."""

    lease: int
    cause: str
    ticket: int
    row: int
    tokens: int


class Swapping:
    """Mutates nothing but its own memory of what is where. `swapped` are the tickets that have something in a copy."""

    def __init__(self, fleet: Fleet, commanding: Commanding) -> None:
        self._fleet = fleet
        self._commanding = commanding
        self._room: dict[int, tuple[float, float]] = {}
        self._leaving: dict[int, Leaving] = {}
        self.swapped: dict[int, Leaving] = {}

    def heard(self, row: int, report: NodeReport) -> None:
        """What a probe says of the node's other memory."""
        if report.swap_blocks and report.swap_block_s > 0.0:
            self._room[row] = float(report.swap_blocks), report.swap_block_s
        else:
            self._room.pop(row, None)

    def forget(self, row: int) -> None:
        """The node has lost what it had, or is gone."""
        self._room.pop(row, None)
        self.swapped = {ticket: copy for ticket, copy in self.swapped.items() if copy.row != row}

    def seconds(self, lease: Lease) -> float:
        """To copy what the lease has in the cache and to copy it back; infinite where its node cannot."""
        room, block_s = self._room.get(lease.row, (0.0, 0.0))
        if not room or not self._commanding.obeys(lease.row):
            return NEVER
        blocks = -(-(lease.ticket.prompt_tokens + lease.tokens) // self._fleet.cells.block_tokens[lease.row])
        return THERE_AND_BACK * blocks * block_s if blocks <= room else NEVER

    def out(self, lease: Lease, cause: str) -> None:
        """Have the lease's blocks copied; it is to leave for `cause` when that is over."""
        ticket, row = lease.ticket, lease.row
        tokens = ticket.prompt_tokens + lease.tokens
        room, block_s = self._room[row]
        self._room[row] = max(0.0, room - tokens / self._fleet.cells.block_tokens[row]), block_s
        number = self._commanding.instruct(row, (SwapOut(ticket.request.id),))
        self._leaving[number] = Leaving(lease.id, cause, ticket.id, row, tokens)

    def obeyed(self, report: Obeyed, leases: Container[int]) -> Leaving | None:
        """An instruction ended: whom of the `leases` that are open it lets leave, if it was one to copy."""
        leaving = self._leaving.pop(report.number, None)
        if leaving is None or leaving.lease not in leases:  # it ended by itself meanwhile
            return None
        if report.ok and report.done and report.done[0].blocks:
            self.swapped[leaving.ticket] = leaving
        return leaving

    def tokens(self, ticket: int, row: int) -> int:
        """Tokens of the ticket's prompt that are in a copy on the node at `row`."""
        copy = self.swapped.get(ticket)
        return copy.tokens if copy is not None and copy.row == row else 0

    def over(self, ticket: int) -> None:
        """The ticket goes on somewhere, or is over. Repeating is harmless."""
        self.swapped.pop(ticket, None)
