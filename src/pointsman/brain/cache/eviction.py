"""Which cached block goes first when room is needed: one function a rule, lowest value first.

Only the ends of chains are offered: a block whose successors are still held is needed to reach them. The values of
`lru`, `lfu` and `gdsf` change only when a block is used, so a queue keeps its order between uses. `reuse` falls with
time alone, but for blocks of one kind (see `ReuseTimes`) in the order of their last use: they share a queue, and only
the fronts of the queues are compared.
"""

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from pointsman.brain.cache.reuse_times import Kind, ReuseTimes

NO_BLOCK = -1
"""The parent of a prompt's first block. Hashes are not negative."""


class CachedBlock(msgspec.Struct, gc=False):
    """A full block of a prompt's KV. `used`: second of its last use; `parent`: the block before it, NO_BLOCK for none.

    `seconds`: what computing it again would take; `children`: blocks held that follow it directly. Mutated by its
    cache.
    """

    key: int
    parent: int
    depth: int
    seconds: float
    used: float
    kind: Kind = ("", 1)
    uses: int = 1
    children: int = 0
    stamp: int = 0
    rank: float = 0.0


class Standing(msgspec.Struct):
    """What values depend on besides the block. `inflation`: the highest value at which a block has been evicted."""

    now: float = 0.0
    inflation: float = 0.0
    reuse_times: ReuseTimes = msgspec.field(default_factory=ReuseTimes)


Value = Callable[[CachedBlock, Standing], float]


def lru(block: CachedBlock, standing: Standing) -> float:  # noqa: ARG001 - one signature for all
    """The least recently used."""
    return block.used


def lfu(block: CachedBlock, standing: Standing) -> float:  # noqa: ARG001 - one signature for all
    """The least often used; among those the least recently used is found by the order of queues."""
    return float(block.uses)


def gdsf(block: CachedBlock, standing: Standing) -> float:
    """Greedy-Dual-Size-Frequency (Cherkasova 1998): uses times the seconds saved by a hit, blocks being of one size.

    Added to the value of what was evicted last, so that a block not used for long falls behind.
    """
    return standing.inflation + block.uses * block.seconds


def reuse(block: CachedBlock, standing: Standing) -> float:
    """The least likely to be used again while it would still be held (Wang et al., USENIX ATC 2025)."""
    return standing.reuse_times.probability(block.kind, standing.now - block.used)


class EvictionRule(NamedTuple):
    """`rank` orders the blocks of one queue and is taken when they are used; `value` compares the fronts of queues, of
    which there is one per kind with `by_kind`."""

    name: str
    rank: Value
    value: Value
    by_kind: bool = False


EVICTION_RULES = {
    rule.name: rule
    for rule in (
        EvictionRule("lru", lru, lru),
        EvictionRule("lfu", lfu, lfu),
        EvictionRule("gdsf", gdsf, gdsf),
        EvictionRule("reuse", lru, reuse, by_kind=True),
    )
}
