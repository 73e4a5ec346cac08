"""One engine of the simulated fleet: its core on the loop's clock, and what can be seen of it from outside."""

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

    requests: int
    prompt_tokens: int
    cached_tokens: int
    generated_tokens: int
    preemptions: int
    evicted_blocks: int
    busy_s: float


class SimNode:
    """Runs sequences.

    `seen(sequence, tokens)` is called when one gets its 1st, 17th, 33rd... token, `ended(sequence)` when its last.
    """

    def __init__(
        self,
        node: Node,
        loop: Loop,
        seen: Callable[[Sequence, int], None],
        ended: Callable[[Sequence], None],
    ) -> None:
        self.node = node
        self._loop = loop
        self._seen = seen
        self._ended = ended
        self._core = node.profile.core()
        self._timeline = Timeline(self._core, self._deliver, node.profile.overhead_seconds)
        self._due = inf
        self._requests = 0

    def submit(self, sequence: Sequence) -> None:
        """A request arrives."""
        self._requests += 1
        self._timeline.submit(sequence, self._loop.now)
        self._schedule()

    def abort(self, sequence: Sequence) -> bool:
        """End a sequence; False if it has ended."""
        return self._timeline.abort(sequence, self._loop.now)

    def slow_down(self, factor: float) -> None:
        """Steps formed from now on take `factor` times as long as the profile says; 1 is well again."""
        self._core.slowdown = self.node.profile.slowdown * factor

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
        )

    def counters(self) -> Counters:
        """Since the start."""
        totals = self._core.totals
        return Counters(
            self._requests,
            totals.prompt_tokens,
            totals.prefix_hits,
            totals.generated_tokens,
            totals.preemptions,
            self._core.pool.evicted,
            totals.busy_seconds,
        )

    def _schedule(self) -> None:
        """Have the loop come back at the next event, unless it will; an entry that came too late is passed over."""
        due = self._timeline.next_event()
        if due < self._due:
            self._due = due
            self._loop.at(due, Rank.ENGINE, self._advance, due)

    def _advance(self, due: float) -> None:
        if due != self._due:
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
