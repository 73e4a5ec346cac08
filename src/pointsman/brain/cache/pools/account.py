"""One node's KV memory at one moment, for whoever shows it."""

import msgspec


class Account(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Blocks. reserved + preallocated + pinned + cached + free = capacity, whatever happens.

    `queued` are those that wait beyond that.
    `preallocated` are kept ready for some requests, `pinned` hold beginnings of prompts for as long as is wanted.
    `largest` is the largest other request that would get its memory
    now, what is cached being given up for it.
    """

    capacity: float
    reserved: float
    preallocated: float = 0.0
    pinned: float = 0.0
    cached: float
    free: float
    queued: float
    largest: float

    @property
    def external(self) -> float:
        """External fragmentation, 0..1: the share of what could be had that is not to be had in one piece."""
        available = self.free + self.cached
        return 1.0 - self.largest / available if 0.0 < available < float("inf") else 0.0
