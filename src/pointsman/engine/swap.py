"""Memory below the GPU's, to which the blocks of a preempted sequence may be copied instead of being computed again.

Copying holds the engine up: what is copied in the forming of a step makes that step longer.

Single blocks whose content has a name may be copied there, too, by order: they are shelved until somebody who needs
them fetches them, or until room is needed for others.
"""

from collections.abc import Sequence

import msgspec

from pointsman.brain.costs.step_time import StepTime, prefill_seconds


class Tier(msgspec.Struct, frozen=True):
    """CPU memory or a disk: room for so many blocks, and the seconds that copying one there or back takes."""

    blocks: int
    seconds_per_block: float


class Parked(msgspec.Struct, frozen=True):
    """Where a preempted sequence's first `tokens` tokens are."""

    tier: int
    blocks: int
    tokens: int


class SwapSpace:
    """The tiers of one engine, nearest first. `seconds` adds up what is copied until `spent` is asked for."""

    def __init__(self, tiers: Sequence[Tier], step_time: StepTime, block_size: int, budget: int) -> None:
        self._tiers = tiers
        self._free = [tier.blocks for tier in tiers]
        self._step_time = step_time
        self._block_size = block_size
        self._budget = budget
        self._seconds = 0.0
        self._shelf: dict[int, int] = {}  # hash of a block -> its tier, in the order they came
        self.blocks_out = 0
        self.blocks_in = 0

    def park(self, tokens: int, slowdown: float) -> Parked | None:
        """Copy out `tokens` computed tokens, if that and copying them back is quicker than to compute them again."""
        if not self._tiers or not tokens:
            return None
        blocks = -(-tokens // self._block_size)
        recomputed = slowdown * prefill_seconds(self._step_time, tokens, 0, self._budget)
        for number, tier in enumerate(self._tiers):
            if blocks <= self._free[number] and 2 * blocks * tier.seconds_per_block < recomputed:
                self._free[number] -= blocks
                self._seconds += blocks * tier.seconds_per_block
                self.blocks_out += blocks
                return Parked(number, blocks, tokens)
        return None

    def bring(self, parked: Parked, cached_blocks: int) -> None:
        """Copy back what is not in the GPU's prefix cache, where the first `cached_blocks` blocks were found."""
        missing = max(0, parked.blocks - cached_blocks)
        self._seconds += missing * self._tiers[parked.tier].seconds_per_block
        self.blocks_in += missing
        self.drop(parked)

    def drop(self, parked: Parked) -> None:
        """What is parked is needed no more."""
        self._free[parked.tier] += parked.blocks

    @property
    def shelved(self) -> int:
        """Blocks that were copied by order and not fetched since."""
        return len(self._shelf)

    def free(self, tier: int) -> int:
        """Blocks for which that tier has room."""
        return self._free[tier]

    def shelve(self, keys: Sequence[int]) -> int:
        """Copy these blocks out, those that came first making room where there is none; how many of them are there."""
        there, kept = 0, frozenset(keys)
        for key in keys:
            there += key in self._shelf or self._shelve(key, kept)
        return there

    def _shelve(self, key: int, kept: frozenset[int]) -> bool:
        tier = next((number for number, free in enumerate(self._free) if free), None)
        if tier is None:
            oldest = next((other for other in self._shelf if other not in kept), None)
            if oldest is None:
                return False
            tier = self._shelf.pop(oldest)
            self._free[tier] += 1
        self._shelf[key] = tier
        self._free[tier] -= 1
        self._seconds += self._tiers[tier].seconds_per_block
        self.blocks_out += 1
        return True

    def find(self, hashes: Sequence[int], depth: int, limit: int) -> int:
        """To which depth, at most `limit`, a chain of which the first `depth` blocks are had goes on here."""
        while depth < limit and hashes[depth] in self._shelf:
            depth += 1
        return depth

    def fetch(self, keys: Sequence[int], had: int) -> None:
        """Copy back blocks that `find` found; the first `had` need not be, and copies of them are dropped."""
        for position, key in enumerate(keys):
            tier = self._shelf.pop(key, None)
            if tier is not None:
                self._free[tier] += 1
                self._seconds += self._tiers[tier].seconds_per_block if position >= had else 0.0
        self.blocks_in += len(keys) - had

    def clear(self) -> None:
        """Forget what is shelved."""
        for tier in self._shelf.values():
            self._free[tier] += 1
        self._shelf.clear()

    def spent(self) -> float:
        """Seconds of copying since this was asked last."""
        seconds, self._seconds = self._seconds, 0.0
        return seconds
