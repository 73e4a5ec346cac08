"""The sessions of a trace: which requests follow each other, and how long after the answer before.

A trace tells when its requests came, which was after answers that took their time on another machine. To ask them in
closed loop, the pause between an answer and the next question is needed. Where the trace does not tell it, it is what
is left of the gap between two arrivals after a nominal time for the answer.
"""

from collections.abc import Sequence

import msgspec

from .rows import Trace, TraceRow

NOMINAL_FIRST_S = 0.5
NOMINAL_TOKEN_S = 0.03
"""An answer's nominal time: to its first token, and for each further one (about what people are served today)."""


def has_sessions(trace: Trace) -> bool:
    """Whether some requests belong to one session."""
    named = [row.session for row in trace.rows if row.session]
    return len(set(named)) < len(named)


def with_pauses(trace: Trace) -> Trace:
    """The trace, every later turn of a session with its `think_s`."""
    last: dict[str, TraceRow] = {}
    rows = []
    for row in trace.rows:
        before = last.get(row.session) if row.session else None
        rows.append(row if before is None else msgspec.structs.replace(row, think_s=_pause(before, row)))
        last[row.session] = row
    return msgspec.structs.replace(trace, rows=tuple(rows))


def sessions_of(rows: Sequence[TraceRow]) -> list[list[TraceRow]]:
    """Rows of one session together, in order of their first; a row without session stands alone."""
    together: dict[str, list[TraceRow]] = {}
    for number, row in enumerate(rows):
        together.setdefault(row.session or f"\0{number}", []).append(row)
    return list(together.values())


def _pause(before: TraceRow, row: TraceRow) -> float:
    if row.think_s is not None:
        return row.think_s
    answered = NOMINAL_FIRST_S + NOMINAL_TOKEN_S * max(0, before.output_tokens - 1)
    return max(0.0, row.arrival_s - before.arrival_s - answered)
