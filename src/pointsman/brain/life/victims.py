"""Which live requests give their memory up for another: rules by name, one function each. Who ranks lowest goes first.

A request that is taken off its node goes on elsewhere, or later, so what it costs is to compute again what it had in
the cache, or to copy that away and back where the engine does so when told. `cheapest` goes by that alone; `value` also
asks what a request is worth, how near its end it is and how much its memory helps.
"""

from collections.abc import Callable

import msgspec

LEAST_LEFT = 0.1
"""Of a request's worth, however near its end it is."""


class Victim(msgspec.Struct, frozen=True, gc=False):
    """A live request as the rules see it: `blocks` it holds, `seconds` to have them again, tokens `generated` of
    `most` that there may be.
    """

    lease: int
    blocks: float
    seconds: float
    priority: float
    generated: int
    most: int


Rule = Callable[[Victim, float], float]
"""Rank of a victim, where so many blocks are required."""


def cheapest(victim: Victim, required: float) -> float:  # noqa: ARG001 - one of two rules
    """Seconds to have again what it has in the cache."""
    return victim.seconds


def value(victim: Victim, required: float) -> float:
    """priority × max(0.1, 1 − generated/max) − size/required."""
    left = max(LEAST_LEFT, 1.0 - victim.generated / victim.most)
    return victim.priority * left - victim.blocks / required


RULES: dict[str, Rule] = {"cheapest": cheapest, "value": value}
