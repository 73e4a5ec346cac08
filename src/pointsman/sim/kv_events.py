"""What nodes tell of their caches, on its way to a simulated gateway: late, and some of it lost.

Every batch that a node publishes reaches each gateway `late_s` later, or not at all. A gateway that finds one missing
asks for a replay, which takes as long there and back, as far as the node still has it. The names of blocks are what
requests are known by (`Request.token_chain`): nothing needs to be hashed.
"""

from collections import deque
from collections.abc import Callable
from typing import Final

import msgspec

from pointsman.brain.cache.following import Follower
from pointsman.brain.model.kv_events import CacheChange, Cleared, KvBatch, KvEvent, Removed, Stored
from pointsman.engine.kv_events import BlockRemoved, BlockStored, KvEventBatch
from pointsman.engine.kv_events import KvEvent as EngineEvent
from pointsman.sim.demand import block_link
from pointsman.sim.loop import Loop, Rank
from pointsman.workload.streams import stream

KEPT_BATCHES: Final = 10_000
"""What an engine remembers for replays: vLLM's default."""


class EventDelays(msgspec.Struct, frozen=True):
    """How late (seconds) gateways hear of events, and which share of the batches they never hear."""

    late_s: float = 0.0
    loss: float = 0.0


class Listener:
    """One gateway's subscriptions. `tell` takes what follows from them; blocks have `block_tokens`."""

    def __init__(
        self, loop: Loop, delays: EventDelays, seed: int, block_tokens: int, tell: Callable[[CacheChange], None]
    ) -> None:
        self._loop = loop
        self._delays = delays
        self._draws = stream(seed, "kv_events")
        self._block_tokens = block_tokens
        self._tell = tell
        self._followers: dict[str, Follower] = {}
        self._kept: dict[str, deque[tuple[float, KvBatch]]] = {}

    def follow(self, node: str) -> None:
        """Listen to a node that has just come up."""
        self._followers[node] = follower = Follower(node, None, replays=True)
        self._kept[node] = deque(maxlen=KEPT_BATCHES)
        follower.begin()
        follower.replay_ended(answered=True)
        self._pass_on(follower)

    def published(self, node: str, told: KvEventBatch) -> None:
        """A node published a batch."""
        batch = KvBatch(told.sequence, [_event(event) for event in told.events])
        kept = self._kept[node]
        if not batch.sequence:  # another process, which knows nothing of the one before
            kept.clear()
        kept.append((self._loop.now, batch))
        if not self._delays.loss or self._draws.random() >= self._delays.loss:
            self._loop.at(self._loop.now + self._delays.late_s, Rank.HEARD, self._hear, (node, batch))

    def probed(self, node: str, started_at: float | None) -> None:
        """A probe told when the node's process began."""
        follower = self._followers.get(node)
        if follower is None or started_at is None:
            return
        kept = self._kept[node]
        while kept and kept[0][0] < started_at:
            kept.popleft()
        self._ask(follower, follower.process(started_at))

    def _hear(self, heard: tuple[str, KvBatch]) -> None:
        node, batch = heard
        follower = self._followers[node]
        self._ask(follower, follower.hear(batch))

    def _ask(self, follower: Follower, start: int | None) -> None:
        self._pass_on(follower)
        if start is not None:
            self._loop.at(self._loop.now + 2 * self._delays.late_s, Rank.HEARD, self._replay, (follower, start))

    def _replay(self, asked: tuple[Follower, int]) -> None:
        follower, start = asked
        for _, batch in tuple(self._kept[follower.cache.node]):
            if batch.sequence >= start:
                follower.replayed(batch)
        follower.replay_ended(answered=True)
        self._pass_on(follower)

    def _pass_on(self, follower: Follower) -> None:
        change = follower.change()
        if change is not None:
            self._tell(msgspec.structs.replace(change, link_tokens=self._block_tokens))


def _event(event: EngineEvent) -> KvEvent:
    if isinstance(event, BlockStored):
        parent = None if event.parent is None else block_link(event.parent)
        return Stored(names=[block_link(block) for block in event.hashes], parent=parent)
    if isinstance(event, BlockRemoved):
        return Removed(names=[block_link(block) for block in event.hashes])
    return Cleared()
