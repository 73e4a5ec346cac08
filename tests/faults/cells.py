"""Which cells there are: fault × phase × mode × client × nodes, less those that cannot exist, each for a reason."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import product


class Fault(StrEnum):
    """What befalls a node."""

    REFUSED = "refused"  # nobody listens any more
    BLACK_HOLE = "black hole"  # its packets and ours vanish
    SILENCE = "silence"  # connections stand, nothing is said
    STOPPED = "SIGSTOP"  # the engine's process stands still
    SLOW_HEADERS = "slow headers"  # late, yet in time
    SLOW_TOKENS = "slow tokens"  # the same for each piece of the body
    SLICED = "sliced"  # in pieces that respect nothing
    TRICKLE = "trickle"  # a narrow bandwidth
    SLOW_CLOSE = "slow close"  # the answer ends with the connection, and that comes late
    RESET = "reset"
    FIN = "FIN"
    CUT_CHUNK = "cut chunk"  # the connection ends inside a chunk
    IN_BAND = "in-band error"
    STATUS_429 = "429"
    STATUS_503 = "503"
    STATUS_500 = "500"
    GARBAGE = "garbage"  # bytes that are not HTTP, and the connection stays open
    OVERSIZE = "oversize"  # a head, an event or a chunk size that does not end


class Phase(StrEnum):
    """When: what the node has done of the request under test."""

    QUEUED = "queued"  # the request still waits in the gateway
    CONNECTING = "connecting"  # its connection is about to be opened
    BEFORE_HEADERS = "before headers"  # the engine has the request
    AFTER_HEADERS = "after headers"
    AFTER_ROLE = "after role"  # the first event of a chat carries no content yet
    AFTER_EVENT_1 = "after event 1"  # the first content (of a plain answer: the first byte) is with the client
    MIDDLE = "middle"
    BEFORE_DONE = "before [DONE]"  # all but the last event (byte) is there
    AFTER_DONE = "after [DONE]"  # only the end of the message is missing
    IDLE = "idle pooled"  # the kept connection it will be sent on was idle


@dataclass(frozen=True, slots=True)
class Cell:
    """One run: the fault strikes node A, or `everywhere` both nodes, while the client stays or leaves just then."""

    fault: Fault
    phase: Phase
    stream: bool
    leaves: bool = False
    everywhere: bool = False

    def __str__(self) -> str:
        words = [self.fault, self.phase, "stream" if self.stream else "plain", "leaves" if self.leaves else "stays"]
        return ", ".join([*words, "everywhere"] if self.everywhere else words)


STATUSES = (Fault.STATUS_429, Fault.STATUS_503, Fault.STATUS_500)
SILENT = (Fault.SILENCE, Fault.STOPPED, Fault.BLACK_HOLE)
"""Nothing tells of them but the time that passes."""
AT_THE_DOOR = (Fault.REFUSED, Fault.BLACK_HOLE)
"""They come over an address, not over a connection."""
SLOW = (Fault.SLOW_HEADERS, Fault.SLOW_TOKENS, Fault.SLICED, Fault.TRICKLE, Fault.SLOW_CLOSE)
"""They test patience, and nothing is lost by them."""
STRAY = (Fault.CUT_CHUNK, Fault.IN_BAND, *STATUSES, Fault.GARBAGE, Fault.OVERSIZE)
"""On an idle connection they are bytes that nobody asked for."""
ON_CONNECTIONS = (
    Fault.REFUSED,
    Fault.BLACK_HOLE,
    Fault.STOPPED,
    Fault.RESET,
    Fault.FIN,
    Fault.CUT_CHUNK,
    Fault.IN_BAND,
    Fault.GARBAGE,
    Fault.OVERSIZE,
)
"""They meet a request that is under way on the node, whichever it is."""
UNSEEN = (Phase.CONNECTING, Phase.BEFORE_HEADERS, Phase.AFTER_HEADERS, Phase.AFTER_ROLE)
"""Under way, and the client has nothing of the answer yet."""
SEEN = (Phase.AFTER_EVENT_1, Phase.MIDDLE, Phase.BEFORE_DONE, Phase.AFTER_DONE)
BODY = (Phase.AFTER_HEADERS, Phase.AFTER_ROLE, *SEEN)
ANY = frozenset(Phase)
_SAID_LATER = frozenset(Phase) - {Phase.CONNECTING, Phase.BEFORE_HEADERS}

_PHASES: dict[Fault, tuple[frozenset[Phase], str]] = {
    Fault.REFUSED: (
        frozenset((Phase.QUEUED, Phase.CONNECTING, Phase.IDLE)),
        "what is connected cannot be refused any more",
    ),
    Fault.SLOW_HEADERS: (frozenset((Phase.QUEUED, Phase.BEFORE_HEADERS, Phase.IDLE)), "headers come once, at first"),
    Fault.SLOW_CLOSE: (
        frozenset((Phase.QUEUED, Phase.BEFORE_HEADERS, Phase.IDLE)),
        "the headers say how the answer will end",
    ),
    **dict.fromkeys(
        (Fault.SLICED, Fault.TRICKLE), (ANY - {Phase.CONNECTING}, "there is nothing to cut before an answer")
    ),
    Fault.SLOW_TOKENS: (_SAID_LATER, "tokens come after the headers"),
    Fault.CUT_CHUNK: (_SAID_LATER, "chunks come after the headers"),
    Fault.IN_BAND: (_SAID_LATER, "an error inside the body comes after the headers"),
    **dict.fromkeys(
        STATUSES,
        (
            frozenset((Phase.QUEUED, Phase.CONNECTING, Phase.BEFORE_HEADERS, Phase.IDLE)),
            "the status is said once, in the headers",
        ),
    ),
    Fault.OVERSIZE: (ANY - {Phase.CONNECTING}, "before a request it is the same as garbage"),
}


def impossible(cell: Cell) -> str | None:
    """Why there is no such cell; None if there is."""
    phases, why = _PHASES.get(cell.fault, (ANY, ""))
    if cell.phase not in phases:
        return why
    if not cell.stream and cell.phase is Phase.AFTER_ROLE:
        return "a plain answer has no role event"
    if not cell.stream and cell.fault is Fault.IN_BAND and cell.phase in SEEN:
        return "what a plain answer goes on with is content, whatever it says"
    if cell.phase is Phase.QUEUED and cell.leaves and cell.fault not in ON_CONNECTIONS:
        return "such a fault meets requests that come to the node, and the only one to come has left"
    if cell.everywhere and cell.leaves:
        return "to the client who leaves it is the same as with one bad node"
    if cell.everywhere and (cell.phase not in UNSEEN or cell.fault in SLOW):
        return "without a second try the second node does not matter"
    return None


def candidates() -> Iterator[Cell]:
    """Every combination, the impossible ones included."""
    for fault, phase, stream, (leaves, everywhere) in product(
        Fault, Phase, (True, False), ((False, False), (True, False), (False, True))
    ):
        yield Cell(fault, phase, stream, leaves, everywhere)


CELLS = tuple(cell for cell in candidates() if impossible(cell) is None)
"""All that exist."""
QUICK = CELLS[::10]
"""A sample with every fault, every phase, both modes, and clients that stay and leave."""
