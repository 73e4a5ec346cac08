"""What an engine tells of its prefix cache when the step is over in which it changed: the content of vLLM's events."""

import msgspec


class BlockStored(msgspec.Struct, frozen=True):
    """Blocks of one chain entered the cache, behind `parent`, or as its beginning (None)."""

    hashes: tuple[int, ...]
    parent: int | None
    block_size: int


class BlockRemoved(msgspec.Struct, frozen=True):
    """Blocks were evicted, in this order."""

    hashes: tuple[int, ...]


class AllBlocksCleared(msgspec.Struct, frozen=True):
    """The cache was emptied."""


KvEvent = BlockStored | BlockRemoved | AllBlocksCleared


class KvEventBatch(msgspec.Struct, frozen=True):
    """All of one step, in order. `sequence` counts batches from 0, so that a listener notices when it missed one."""

    sequence: int
    at: float
    events: tuple[KvEvent, ...]


class KvEventLog:
    """Collects what happens, and hands it over step by step. Neighbouring events of one kind become one."""

    def __init__(self, block_size: int) -> None:
        self._block_size = block_size
        self._events: list[KvEvent] = []
        self._batches = 0

    def stored(self, key: int, parent: int | None) -> None:
        """A block entered the cache."""
        last = self._events[-1] if self._events else None
        if isinstance(last, BlockStored) and last.hashes[-1] == parent:
            self._events[-1] = BlockStored((*last.hashes, key), last.parent, self._block_size)
        else:
            self._events.append(BlockStored((key,), parent, self._block_size))

    def removed(self, key: int) -> None:
        """A block was evicted."""
        last = self._events[-1] if self._events else None
        if isinstance(last, BlockRemoved):
            self._events[-1] = BlockRemoved((*last.hashes, key))
        else:
            self._events.append(BlockRemoved((key,)))

    def cleared(self) -> None:
        """All was forgotten."""
        self._events.append(AllBlocksCleared())

    def batch(self, now: float) -> KvEventBatch | None:
        """What happened since the last batch; None for nothing."""
        if not self._events:
            return None
        batch = KvEventBatch(self._batches, now, tuple(self._events))
        self._batches += 1
        self._events.clear()
        return batch
