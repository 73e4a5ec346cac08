"""Following one publisher's numbered batches: what is missing is asked for again, and else all is forgotten.

    live ──► next in order ─────────────────────────► entered
        └──► later than that ──► replay ──► entered, then what came meanwhile
        │                   └──► no replay, or it is missing there too ──► all forgotten, goes on from here
        └──► earlier ──► the engine was restarted ──► all forgotten, replay from 0

A publisher that was lost, and one whose process is another now, counts as restarted: a restarted engine may have passed
the old number before it is heard again. What the replay has no memory of any more may be held all the same: then what
is known is not `whole`.
"""

from typing import Final

from pointsman.brain.cache.reported import Naming, ReportedCache
from pointsman.brain.model.kv_events import CacheChange, Cleared, KvBatch

NOT_BEGUN: Final = -1
MOST_WAITING: Final = 10_000
"""Batches that come while a replay is under way and are kept; vLLM keeps as many for replays."""
MOST_WAITING_BLOCKS: Final = 200_000
"""Blocks that these may tell of: some 150 MB. What is beyond is missing, and asked for again."""


class Follower:
    """Follows the publisher of `node`. `replays`: whether it can be asked for batches again.

    Calls that return a number want a replay from that batch on; its batches are to be given to `replayed`, and
    `replay_ended` is to be called in any case. `batches` heard, `gaps` found and batches `lost` for good are counted.
    """

    def __init__(self, node: str, naming: Naming | None, *, replays: bool) -> None:
        self.cache = ReportedCache(node, naming)
        self.sequence = NOT_BEGUN
        self.replaying = False
        self.batches = self.gaps = self.lost = 0
        self._replays = replays
        self._waiting: list[KvBatch] = []
        self._waiting_blocks = 0
        self._told = 0, 0, 0
        self._whole = False
        self._started_at: float | None = None

    def begin(self) -> int | None:
        """Begin, or begin anew: nothing is known of what it holds."""
        self.cache.forget(whole=False)
        self.sequence = NOT_BEGUN
        self._waiting, self._waiting_blocks = [], 0
        return self._ask()

    def process(self, started_at: float | None) -> int | None:
        """When the engine's process began, as it tells elsewhere: another one has another cache."""
        before = self._started_at
        if started_at is None or started_at == before:
            return None
        self._started_at = started_at
        return None if before is None else self.begin()

    def hear(self, batch: KvBatch) -> int | None:
        """A batch came as it was published."""
        self.batches += 1
        if self.replaying:
            self._wait(batch)
            return None
        start = None
        if batch.sequence <= self.sequence:
            start = self.begin()
        elif batch.sequence > self.sequence + 1:
            self.gaps += self.sequence != NOT_BEGUN
            start = self._ask()
        if start is None:
            self._next(batch)
        else:
            self._wait(batch)
        return start

    def misread(self, sequence: int, *, replayed: bool) -> None:
        """A batch came that cannot be read: what it told is lost. During a replay, that will show up later."""
        if self.replaying and not replayed:
            return
        self.gaps += 1
        self.lost += 1
        self.cache.forget(whole=False)
        self.sequence = sequence

    def replayed(self, batch: KvBatch) -> None:
        """A batch came again, as asked for."""
        if self.replaying and batch.sequence > self.sequence:
            self._next(batch)

    def replay_ended(self, *, answered: bool) -> None:
        """No more of the replay will come. `answered`: the publisher said so."""
        if not self.replaying:
            return
        self.replaying = False
        waiting, self._waiting, self._waiting_blocks = self._waiting, [], 0
        if answered and self.sequence == NOT_BEGUN and not waiting:
            self.cache.whole = True  # it has told nothing since it began: there is nothing
        for batch in waiting:
            if batch.sequence > self.sequence:
                self._next(batch)

    def change(self) -> CacheChange | None:
        """What is to be told of it since the last time, if anything."""
        counts = self.batches, self.gaps, self.lost
        batches, gaps, lost = (now - before for now, before in zip(counts, self._told, strict=True))
        self._told = counts
        change = self.cache.change(batches, gaps, lost)
        news = change.came or change.went or change.cleared or batches or gaps or lost or change.whole != self._whole
        self._whole = change.whole
        return change if news else None

    def _wait(self, batch: KvBatch) -> None:
        """Keep it for the end of the replay; from the first that there is no room for on, none is kept."""
        if len(self._waiting) < MOST_WAITING and self._waiting_blocks < MOST_WAITING_BLOCKS:
            self._waiting.append(batch)
            self._waiting_blocks += sum(len(event.names) for event in batch.events if not isinstance(event, Cleared))

    def _ask(self) -> int | None:
        if not self._replays:
            return None
        self.replaying = True
        return self.sequence + 1

    def _next(self, batch: KvBatch) -> None:
        """Enter a batch before which others may be missing for good."""
        missing = batch.sequence - self.sequence - 1
        if missing and self.sequence != NOT_BEGUN:
            self.lost += missing
            self.cache.forget(whole=False)
        self._enter(batch)

    def _enter(self, batch: KvBatch) -> None:
        if batch.sequence == 0:
            self.cache.whole = True
        for event in batch.events:
            self.cache.take(event)
        self.sequence = batch.sequence
