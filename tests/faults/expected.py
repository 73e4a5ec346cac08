"""What each cell must come to when the client stays, by rule."""

from dataclasses import dataclass
from enum import StrEnum

from .cells import SILENT, SLOW, STATUSES, STRAY, UNSEEN, Cell, Fault, Phase


class End(StrEnum):
    """How the answer ends for the client."""

    WHOLE = "whole"  # all the engine said
    CUT = "cut"  # a stream's beginning, one error event of ours, [DONE]
    IN_BAND = "in-band"  # the node's own error, as the node said it
    BROKEN = "broken"  # a plain answer's beginning; the connection ends before its announced end
    REFUSED = "refused"  # an error status and nothing else


@dataclass(frozen=True, slots=True)
class Expected:
    """`tries` is how many nodes were sent the request; `reason` is the first try's."""

    end: End
    status: int = 200
    tries: int = 1
    reason: str = "done"


def expected(cell: Cell) -> Expected:
    """The one right result of a cell whose client stays."""
    if cell.fault in SLOW:
        return Expected(End.WHOLE)
    if _hangs(cell):
        return Expected(End.REFUSED, 504, 1, "node_timeout")
    if cell.phase is Phase.QUEUED and cell.fault in (Fault.STOPPED, Fault.BLACK_HOLE):
        return Expected(End.WHOLE)  # its slot stays taken until its own stream is given up; the other's is free before
    if cell.phase is Phase.IDLE and cell.fault in (Fault.RESET, Fault.FIN, *STRAY):
        return Expected(End.WHOLE)  # a kept connection found dead says nothing about the node: a fresh one is used
    if cell.phase in (Phase.QUEUED, Phase.IDLE, *UNSEEN):
        return _unseen(cell)
    return _seen_stream(cell) if cell.stream else _seen_plain(cell)


def _hangs(cell: Cell) -> bool:
    """Only streams have a time-out for the first token: a plain answer may take as long as its client allows."""
    early = cell.phase in (Phase.QUEUED, Phase.IDLE, *UNSEEN)
    if cell.stream or cell.fault not in SILENT or not early:
        return False
    unconnected = cell.fault is Fault.BLACK_HOLE and cell.phase is Phase.CONNECTING
    elsewhere = cell.fault is not Fault.SILENCE and cell.phase is Phase.QUEUED
    return not (unconnected or elsewhere)


def _unseen(cell: Cell) -> Expected:
    """Nothing is with the client yet: the other node gets its chance."""
    reason = reason_of(cell)
    if cell.fault is Fault.IN_BAND and not cell.stream:
        return Expected(End.IN_BAND, reason=reason)  # a 200 with an error inside is the node's answer like any other
    if cell.everywhere:
        return Expected(End.REFUSED, _status(cell.fault, reason), 2, reason)
    return Expected(End.WHOLE, tries=2, reason=reason)


def _seen_stream(cell: Cell) -> Expected:
    if cell.fault is Fault.IN_BAND:
        return Expected(End.IN_BAND, reason="inband_error")
    if cell.phase in (Phase.BEFORE_DONE, Phase.AFTER_DONE):
        return Expected(End.WHOLE)  # every choice has its finish_reason: nothing the client needs is missing
    return Expected(End.CUT, reason=reason_of(cell))


def _seen_plain(cell: Cell) -> Expected:
    if cell.phase is Phase.AFTER_DONE and cell.fault is not Fault.CUT_CHUNK:
        return Expected(End.WHOLE)  # the announced length is there
    return Expected(End.BROKEN, reason=reason_of(cell))


def reason_of(cell: Cell) -> str:
    """What the gateway calls it."""
    if cell.fault is Fault.BLACK_HOLE and cell.phase is Phase.CONNECTING:
        return "connect_timeout"
    if cell.fault in SILENT:
        return "first_token_timeout" if cell.phase in (Phase.QUEUED, Phase.IDLE, *UNSEEN) else "token_timeout"
    if cell.fault in STATUSES:
        return f"status_{cell.fault}"
    return _REASONS[cell.fault]


_REASONS = {
    Fault.REFUSED: "refused",
    Fault.RESET: "reset",
    Fault.FIN: "eof",
    Fault.CUT_CHUNK: "eof",
    Fault.IN_BAND: "inband_error",
    Fault.GARBAGE: "garbage",
    Fault.OVERSIZE: "garbage",
}


def _status(fault: Fault, reason: str) -> int:
    """What the client is told when both nodes fail."""
    if fault in STATUSES:
        return int(fault)
    if fault is Fault.IN_BAND:
        return 500  # as the event says
    return 504 if reason.endswith("timeout") else 502
