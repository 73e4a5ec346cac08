"""One node of the simulated fleet: its process on the loop's clock, and what can be seen of it from outside.

A process that stands still has a clock that stands still, too: its time is the loop's less all the time that the node
has stood. A node that was killed comes back with a new process.
"""

from collections.abc import Callable
from collections.abc import Sequence as Several
from math import inf

import msgspec

from pointsman.brain.model.commands import Command
from pointsman.brain.model.reports import NodeReport
from pointsman.engine.core import StepResult
from pointsman.engine.kv_events import KvEventBatch
from pointsman.engine.sequence import Sequence
from pointsman.sim.fleet import Node
from pointsman.sim.loop import Loop, Rank
from pointsman.sim.plain import process_of
from pointsman.sim.process import Counters, EngineProcess
from pointsman.wire.kv_orders import KvAnswer

TOKENS_EVERY = 16
"""Content events between two accounts of progress to the brain, as in the gateway."""


class SimNode:
    """Runs sequences.

    `seen(sequence, tokens)` is called when one gets its first token, `ended(sequence)` when its last. Only an `exact`
    node, which takes step after step, also tells of the 17th, 33rd... token. `told(name, batch)` is called with its KV
    events, if its engine tells any.
    `alive`: whether its process is there; `still_until`: when it goes on, for one that stands still, else None.
    """

    def __init__(
        self,
        node: Node,
        loop: Loop,
        seen: Callable[[Sequence, int], None],
        ended: Callable[[Sequence], None],
        told: Callable[[str, KvEventBatch], None],
        *,
        exact: bool = False,
    ) -> None:
        self.node = node
        self.alive = True
        self.still_until: float | None = None
        self._loop = loop
        self._seen = seen
        self._ended = ended
        self._told = told
        self._exact = exact
        self._factor = 1.0
        self._requests = 0
        self._earlier = Counters()
        self._still_since = 0.0
        self._stood_s = 0.0
        self._held: list[Sequence] = []
        self._begin()

    def _begin(self) -> None:
        self._process = process_of(self.node.profile, self._deliver, exact=self._exact)
        self._process.slow_down(self._factor, -inf)
        self._due = inf
        self._started_at = self._loop.now

    def submit(self, sequence: Sequence) -> None:
        """A request arrives. One that stands still will find it there."""
        self._requests += 1
        if self.still_until is not None:
            self._held.append(sequence)
            return
        self._process.submit(sequence, self._own_time())
        self._schedule()

    def abort(self, sequence: Sequence) -> bool:
        """End a sequence; False if it has ended."""
        aborted = self._process.abort(sequence, self._own_time())
        self._schedule()
        return aborted

    def last_token_s(self, sequence: Sequence) -> float:
        """When a sequence that was aborted got its last token."""
        return sequence.token_at + self._stood_s

    def slow_down(self, factor: float) -> None:
        """What begins from now on takes `factor` times as long as the profile says; 1 is well again."""
        self._factor = factor
        self._process.slow_down(factor, self._own_time())
        self._schedule()

    def carry_out(self, commands: Several[Command]) -> KvAnswer | None:
        """Do with the cache what is ordered; None from who does not obey, or does not answer."""
        process = self._process
        if not isinstance(process, EngineProcess) or not self.alive or self.still_until is not None:
            return None
        answer = process.carry_out(commands, self._own_time())
        self._schedule()
        return answer

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
            self._process.submit(sequence, self._own_time())
        self._held.clear()
        self._schedule()

    def report(self, delay_s: float) -> NodeReport:
        """What a probe finds that takes so long to come back."""
        reading = self._process.reading(self.node.spec, self._own_time())
        return msgspec.structs.replace(reading, seconds=delay_s, started_at=self._started_at)

    def counters(self) -> Counters:
        """Since the start of the run, over all its processes."""
        done = self._totals() if self.alive else self._earlier
        return msgspec.structs.replace(done, requests=self._requests)

    def _totals(self) -> Counters:
        return self._process.counters(self._own_time()).after(self._earlier)

    def _own_time(self) -> float:
        """The process's time."""
        now = self._loop.now if self.still_until is None else self._still_since
        return now - self._stood_s

    def _schedule(self) -> None:
        """Have the loop come back at the next event, unless it will; an entry that came too late is passed over."""
        due = self._process.next_event()
        if due < self._due and self.still_until is None:
            self._due = due
            self._loop.at(due + self._stood_s, Rank.ENGINE, self._advance, due)

    def _advance(self, due: float) -> None:
        if due != self._due or not self.alive or self.still_until is not None:
            return
        self._process.advance(due)
        self._due = inf
        self._schedule()

    def _deliver(self, _now: float, result: StepResult) -> None:
        for sequence in result.emitted:
            if sequence.generated % TOKENS_EVERY == 1:
                self._seen(sequence, sequence.generated)
        for sequence in result.finished:
            self._ended(sequence)
        if result.kv_events is not None:
            self._told(self.node.name, result.kv_events)
