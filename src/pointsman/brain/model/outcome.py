"""How a lease ended."""

from enum import StrEnum

import msgspec


class Verdict(StrEnum):
    """What an ending says about the node."""

    OK = "ok"  # the node did its part, the client's own 4xx included
    FAIL = "fail"  # connect error, reset, early end, 500/502/504, time-out: counts against the node
    BUSY = "busy"  # 429 and 503: back-pressure, lowers the node's share for a while
    CANCELLED = "cancelled"  # the client left: says nothing about the node
    INTERRUPTED = "interrupted"  # taken off the node on our own wish: says nothing about it either


FAILURES = (Verdict.FAIL, Verdict.BUSY)
"""The node did not do what was asked of it: where nothing was delivered, another may be asked."""
UNSERVED = (*FAILURES, Verdict.INTERRUPTED)
"""The client did not get what it asked for, and did not leave either."""


class Outcome(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One lease's ending. Token counts are what the engine's usage said, 0 where it said nothing.

    `reason` is one word for people and metrics ("done", "connect", "reset", "truncated", "status_500", ...).
    `delivered` tells whether any body byte reached the client: then no second try is allowed.
    `free` marks a try that cost the node nothing (connection refused, a pooled connection found dead).
    `resumable` tells that what was delivered is known and the rest can be asked of another node: `new_tokens` are what
    this try added to it.
    """

    verdict: Verdict
    reason: str = "done"
    status: int = 200
    delivered: bool = True
    free: bool = False
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int | None = None
    resumable: bool = False
    new_tokens: int = 0


CANCELLED = Outcome(verdict=Verdict.CANCELLED, reason="client_left", status=499)
