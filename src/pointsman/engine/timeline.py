"""An engine core on a line of time: arrivals and step ends happen in order at their exact moments."""

from collections import deque
from collections.abc import Callable, Iterable
from math import inf

from pointsman.brain.model.commands import Carried, Command
from pointsman.engine.core import Core, Step, StepResult, Totals
from pointsman.engine.sequence import Sequence, Status


class Timeline:
    """Advances a core from event to event, step by step. However late `advance` is called, events get their due times.

    `deliver(now, result)` is called at the end of each step, before the next one is formed; it may finish sequences and
    append hashes. `overhead` is the time in seconds a request spends in the API server before the scheduler sees it.
    """

    def __init__(self, core: Core, deliver: Callable[[float, StepResult], None], overhead: float = 0.0) -> None:
        self.core = core
        self._deliver = deliver
        self._overhead = overhead
        self._arrivals: deque[tuple[float, Sequence]] = deque()
        self._step: Step | None = None

    def submit(self, sequence: Sequence, now: float) -> None:
        """Let a sequence arrive. Calls must come in the order of `now`, and after `advance(now)` on a wall clock.

        Raises ValueError if it could never fit the engine's blocks, changing nothing.
        """
        self.core.limits.check(sequence)
        self._arrivals.append((now + self._overhead, sequence))

    def next_event(self) -> float:
        """When `advance` has something to do; infinity if the engine is idle."""
        ends = self._step.ends if self._step is not None else inf
        return min(ends, self._arrivals[0][0]) if self._arrivals else ends

    def advance(self, now: float) -> None:
        """Process every event due until `now`; infinity means until the engine is idle."""
        while (moment := self.next_event()) <= now and moment < inf:
            self._admit_arrivals(moment)
            step = self._step
            if step is not None and step.ends <= moment:
                self._deliver(moment, self.core.complete(step, moment))
                self._step = None
            if self._step is None:
                self._step = self.core.schedule(moment)

    def _admit_arrivals(self, moment: float) -> None:
        while self._arrivals and self._arrivals[0][0] <= moment:
            sequence = self._arrivals.popleft()[1]
            if sequence.status is Status.WAITING:
                self.core.add(sequence, moment)

    def abort(self, sequence: Sequence, now: float) -> bool:
        """End a sequence wherever it is, also before the scheduler has seen it. False if it had ended already."""
        if sequence.order == 0 and sequence.status is Status.WAITING:
            sequence.status = Status.DONE
            sequence.finished_at = now
            return True
        return self.core.abort(sequence, now)

    def carry_out(self, commands: Iterable[Command], now: float) -> list[Carried]:
        """Do with the cache what is ordered, one after the other. Raises ValueError for a core that does not obey."""
        self.advance(now)
        return [self.core.carry_out(command) for command in commands]

    def slow_down(self, slowdown: float, now: float) -> None:
        """Steps formed from now on take so many times as long."""
        self.advance(now)
        self.core.slowdown = slowdown

    def load(self, now: float) -> tuple[int, int, float]:
        """Sequences running and waiting, and the share of blocks that live ones hold."""
        self.advance(now)
        return self.core.running, self.core.waiting, self.core.kv_usage

    def totals(self, now: float) -> Totals:
        """Counters since the start; the step in progress counts as a step, and with its whole length."""
        self.advance(now)
        totals, swap = self.core.totals, self.core.swap
        totals.evicted_blocks = self.core.pool.evicted
        totals.swapped_out_blocks, totals.swapped_in_blocks = swap.blocks_out, swap.blocks_in
        return totals
