"""One engine of the simulated fleet: its core on the loop's clock, and what can be seen of it from outside.

A process that stands still has a clock that stands still, too: the core's time is the loop's less all the time that
the node has stood. One that was killed comes back with a new core.
"""

from collections.abc import Callable
from math import inf

import msgspec

from pointsman.brain.model.reports import NodeReport
from pointsman.engine.core import StepResult
from pointsman.engine.sequence import Sequence
from pointsman.engine.timeline import Timeline
from pointsman.sim.fleet import Node
from pointsman.sim.loop import Loop, Rank

TOKENS_EVERY = 16
"""Content events between two accounts of progress to the brain, as in the gateway."""


class Counters(msgspec.Struct, frozen=True):
    """What a node has done since its start. `busy_s`: length of all its steps."""

    requests: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    generated_tokens: int = 0
    preemptions: int = 0
    evicted_blocks: int = 0
    busy_s: float = 0.0


class SimNode:
    """Runs sequences.

    `seen(sequence, tokens)` is called when one gets its 1st, 17th, 33rd... token, `ended(sequence)` when its last.
    `alive`: whether its process is there; `still_until`: when it goes on, for one that stands still, else None.
    """

    def __init__(
        self,
        node: Node,
        loop: Loop,
        seen: Callable[[Sequence, int], None],
        ended: Callable[[Sequence], None],
    ) -> None:
        self.node = node
        self.alive = True
        self.still_until: float | None = None
        self._loop = loop
        self._seen = seen
        self._ended = ended
        self._slowdown = node.profile.slowdown
        self._requests = 0
        self._earlier = Counters()
        self._still_since = 0.0
        self._stood_s = 0.0
        self._held: list[Sequence] = []
        self._begin()

    def _begin(self) -> None:
        self._core = self.node.profile.core()
        self._core.slowdown = self._slowdown
        self._timeline = Timeline(self._core, self._deliver, self.node.profile.overhead_seconds)
        self._due = inf
        self._started_at = self._loop.now

    def submit(self, sequence: Sequence) -> None:
        """A request arrives. One that stands still will find it there."""
        self._requests += 1
        if self.still_until is not None:
            self._held.append(sequence)
            return
        self._timeline.submit(sequence, self._own_time())
        self._schedule()

    def abort(self, sequence: Sequence) -> bool:
        """End a sequence; False if it has ended."""
        return self._timeline.abort(sequence, self._own_time())

    def slow_down(self, factor: float) -> None:
        """Steps formed from now on take `factor` times as long as the profile says; 1 is well again."""
        self._core.slowdown = self._slowdown = self.node.profile.slowdown * factor

    def kill(self) -> None:
        """The process dies. Whoever has sequences here is to abort them."""
        self.alive = False
        self._earlier = self._totals()

    def restart(self) -> None:
        """The process is back, empty."""
        self.alive = True
        self._begin()

    def stand_still(self, until: float) -> None:
        """Nothing is computed and nothing answered until `go_on`, which is to be called at `until`."""
        self.still_until, self._still_since = until, self._loop.now

    def go_on(self) -> None:
        """It goes on where it stood, and finds what arrived meanwhile."""
        self.still_until, stood_s = None, self._loop.now - self._still_since
        self._stood_s += stood_s
        self._due = inf
        for sequence in self._held:
            self._timeline.submit(sequence, self._own_time())
        self._held.clear()
        self._schedule()

    def report(self, delay_s: float) -> NodeReport:
        """What a probe finds that takes so long to come back: what an engine's metrics tell."""
        core, limits = self._core, self.node.profile.limits
        return NodeReport(
            node=self.node.name,
            ok=True,
            seconds=delay_s,
            models=self.node.spec.models,
            running=core.running,
            waiting=core.waiting,
            kv_usage=core.kv_usage,
            kv_blocks=limits.blocks,
            block_tokens=limits.block_size,
            started_at=self._started_at,
        )

    def counters(self) -> Counters:
        """Since the start of the run, over all its processes."""
        return self._totals() if self.alive else self._earlier

    def _totals(self) -> Counters:
        totals, earlier = self._core.totals, self._earlier
        return Counters(
            self._requests,
            earlier.prompt_tokens + totals.prompt_tokens,
            earlier.cached_tokens + totals.prefix_hits,
            earlier.generated_tokens + totals.generated_tokens,
            earlier.preemptions + totals.preemptions,
            earlier.evicted_blocks + self._core.pool.evicted,
            earlier.busy_s + totals.busy_seconds,
        )

    def _own_time(self) -> float:
        """The core's time."""
        now = self._loop.now if self.still_until is None else self._still_since
        return now - self._stood_s

    def _schedule(self) -> None:
        """Have the loop come back at the next event, unless it will; an entry that came too late is passed over."""
        due = self._timeline.next_event()
        if due < self._due:
            self._due = due
            self._loop.at(due + self._stood_s, Rank.ENGINE, self._advance, due)

    def _advance(self, due: float) -> None:
        if due != self._due or not self.alive or self.still_until is not None:
            return
        self._timeline.advance(due)
        self._due = inf
        self._schedule()

    def _deliver(self, _now: float, result: StepResult) -> None:
        for sequence in result.emitted:
            if sequence.generated % TOKENS_EVERY == 1:
                self._seen(sequence, sequence.generated)
        for sequence in result.finished:
            self._ended(sequence)
