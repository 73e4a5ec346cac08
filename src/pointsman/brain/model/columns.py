"""What is known of each node, as columns: one array per quantity, one row per node.

The same memory is seen twice: as NumPy arrays (`Columns`), to work on all nodes at once, and as plain arrays (`Cells`),
to read and write one number of one node.
"""

from __future__ import annotations

from array import array

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Flags = NDArray[np.bool_]

COLUMNS = (
    "identity",  # whole number below 2^53 made from the node's name: the same in every gateway and after a restart
    "outstanding",  # requests booked and not ended
    "running",  # of these, past their first token
    "slots",  # requests the engine runs at once
    "kv_capacity",  # blocks; inf where unknown
    "kv_reserved",  # blocks held by live leases
    "kv_cached",  # blocks believed cached and evictable
    "block_tokens",  # tokens per block
    "backlog_tokens",  # booked uncached prompt tokens not yet computed
    "backlog_pairs",  # (uncached token x context token) pairs of these prompts
    "prefilled_seconds",  # of the work on them, what the oldest is believed to have had by now
    "context_tokens",  # tokens in the KV cache of live requests, booked
    "reported_running",  # requests the engine computes at its last report
    "reported_waiting",  # requests in the engine's own queue at its last report
    "reported_kv_usage",  # share of the engine's KV blocks in use at its last report
    "reported_gpu_busy",  # share of time its GPUs computed, at its last report; −1 where it tells none
    "sent_tokens",  # prompt tokens sent here since the last report of its load
    "reported_load",  # a plain server's own load figure at its last report; 0 where none
    "response_seconds",  # dispatch to first byte, peak EWMA
    "response_at_queue",  # dispatch to first byte, median of those that met about as many requests there as now
    "service_seconds",  # mean seconds a request spends here
    "recent_work",  # seconds of work sent here within the last 3 minutes
    "speed",  # prefill tokens/s over the fleet's median
    "recovery_slope",  # fall of load per second; positive while recovering
    "queue_growth",  # rise of outstanding requests per second
    "prefill_base",  # s
    "prefill_per_token",  # s per uncached token
    "prefill_per_pair",  # s per (uncached token x context token)
    "tpot_base",  # s
    "tpot_per_sequence",  # s per request in the batch
    "tpot_per_context",  # s per token of context in the batch
    "prediction_error",  # mean |measured/predicted − 1| of late; large until there is feedback
)


class Columns:
    """One array per quantity, one row per node. Units stand beside the names in `COLUMNS`."""

    identity: Floats
    outstanding: Floats
    running: Floats
    slots: Floats
    kv_capacity: Floats
    kv_reserved: Floats
    kv_cached: Floats
    block_tokens: Floats
    backlog_tokens: Floats
    backlog_pairs: Floats
    prefilled_seconds: Floats
    context_tokens: Floats
    reported_running: Floats
    reported_waiting: Floats
    reported_kv_usage: Floats
    reported_gpu_busy: Floats
    sent_tokens: Floats
    reported_load: Floats
    response_seconds: Floats
    response_at_queue: Floats
    service_seconds: Floats
    recent_work: Floats
    speed: Floats
    recovery_slope: Floats
    queue_growth: Floats
    prefill_base: Floats
    prefill_per_token: Floats
    prefill_per_pair: Floats
    tpot_base: Floats
    tpot_per_sequence: Floats
    tpot_per_context: Floats
    prediction_error: Floats

    def __init__(self, **arrays: Floats) -> None:
        for name in COLUMNS:
            setattr(self, name, arrays[name])

    def read_only(self, rows: int) -> Columns:
        """Aliases of the first `rows` rows that refuse to be written."""
        aliases = {name: getattr(self, name)[:rows] for name in COLUMNS}
        for alias in aliases.values():
            alias.flags.writeable = False
        return Columns(**aliases)

    def gather(self, rows: Rows) -> Columns:
        """A copy of the given rows."""
        return Columns(**{name: getattr(self, name)[rows] for name in COLUMNS})


class Cells:
    """The same quantities cell by cell: reading or writing one number of an `array` costs half of what NumPy's does."""

    __slots__ = COLUMNS

    identity: array[float]
    outstanding: array[float]
    running: array[float]
    slots: array[float]
    kv_capacity: array[float]
    kv_reserved: array[float]
    kv_cached: array[float]
    block_tokens: array[float]
    backlog_tokens: array[float]
    backlog_pairs: array[float]
    prefilled_seconds: array[float]
    context_tokens: array[float]
    reported_running: array[float]
    reported_waiting: array[float]
    reported_kv_usage: array[float]
    reported_gpu_busy: array[float]
    sent_tokens: array[float]
    reported_load: array[float]
    response_seconds: array[float]
    response_at_queue: array[float]
    service_seconds: array[float]
    recent_work: array[float]
    speed: array[float]
    recovery_slope: array[float]
    queue_growth: array[float]
    prefill_base: array[float]
    prefill_per_token: array[float]
    prefill_per_pair: array[float]
    tpot_base: array[float]
    tpot_per_sequence: array[float]
    tpot_per_context: array[float]
    prediction_error: array[float]

    def __init__(self, rows: int) -> None:
        for name in COLUMNS:
            setattr(self, name, array("d", bytes(8 * rows)))

    def columns(self) -> Columns:
        """The columns made of these very cells: what is written to either shows in both."""
        return Columns(**{name: np.frombuffer(getattr(self, name)) for name in COLUMNS})
