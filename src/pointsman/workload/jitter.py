"""The same traffic at slightly other moments: how much of a result hung on who came just before whom."""

import msgspec

from .rows import Trace
from .streams import stream


def jittered(trace: Trace, seconds: float, seed: int) -> Trace:
    """Each session, and each request without one, moved by up to `seconds` either way; none before second 0.

    Who comes in bursts longer than that still does. A session keeps the gaps between its requests. 0 changes nothing.
    """
    if not seconds:
        return trace
    draws = stream(seed, "jitter")
    moves: dict[str, float] = {}
    rows = []
    for row in trace.rows:
        move = float(draws.uniform(-seconds, seconds)) if row.session not in moves else moves[row.session]
        if row.session:
            moves[row.session] = move
        rows.append(msgspec.structs.replace(row, arrival_s=max(0.0, row.arrival_s + move)))
    rows.sort(key=lambda row: row.arrival_s)
    return msgspec.structs.replace(trace, rows=tuple(rows))
