"""The engine of `core.py` and `timeline.py` at a fraction of their cost: a stretch of steps at a time.

Between two events (an arrival, a completion, the end of a prefill, a shortage of blocks) the batch does not change.
Then nothing needs to be touched for a step: when the k-th is over follows in closed form (`stretch.py`), and what the
steps did to the batch follows from their number.

- `_begun` counts steps. A sequence whose prompt is computed gets a token in each, so all that is kept of it are two
  differences (`batch.py`), and who ends when stands in a heap of step numbers.
- A decoding sequence takes a block every `block_size` steps: the batch knows how many do so in which of them.
- At most one sequence is in the middle of its prompt, and it is the last one admitted: a prompt that is not finished
  has used up the step's budget. It computes equal chunks, so a stretch may carry it along.
- A step in which blocks run out is formed sequence by sequence, as `core.py` does it.
- A stretch that is planned too long is cut at the step that must be its last. What its steps did is entered (`_enter`)
  up to the step in progress when somebody asks, and up to the end when it is over.

Only first tokens and ends are delivered. The rest is as in `core.py`: the same order of events, the same counts, and
the same times but for rounding.
"""

from collections import deque
from collections.abc import Callable
from math import inf

from pointsman.brain.costs.step_time import StepTime
from pointsman.engine.batch import Batch, Seat
from pointsman.engine.core import Limits, StepResult, Totals
from pointsman.engine.gaps import LongestSteps
from pointsman.engine.runs import Holding, RunPool
from pointsman.engine.sequence import Sequence, Status
from pointsman.engine.stretch import Stretch
from pointsman.engine.swap import SwapSpace
from pointsman.engine.waiting import WaitingQueue

Chunk = tuple[int, int]
"""Tokens of a prompt that a step computes, and tokens computed before them."""


class MacroTimeline:
    """One engine on a line of time. `slowdown` multiplies the time of its steps.

    `deliver(now, result)` is called at the end of each step in which a sequence got its first token or its last.
    `overhead` is the time in seconds a request spends in the API server before the scheduler sees it.
    """

    def __init__(
        self,
        limits: Limits,
        step_time: StepTime,
        slowdown: float,
        deliver: Callable[[float, StepResult], None],
        overhead: float = 0.0,
    ) -> None:
        self.limits = limits
        self.pool = RunPool(limits.blocks, self._settle)
        self._swap = SwapSpace(limits.tiers, step_time, limits.block_size, limits.max_num_batched_tokens)
        self._block_size = limits.block_size
        self._budget = limits.max_num_batched_tokens
        self._most_running = limits.max_num_seqs
        self._by_priority = limits.by_priority
        self._steps_done = self._generated = self._preemptions = self._prompt_tokens = self._prefix_hits = 0
        self._busy_seconds = 0.0
        self._fixed_seconds = step_time.fixed
        self._per_context_token = step_time.per_context_token
        self._per_attention_token = step_time.per_attention_token
        self._slowdown = slowdown
        self._deliver = deliver
        self._overhead = overhead
        self._arrivals: deque[tuple[float, Sequence]] = deque()
        self._waiting = WaitingQueue(limits.by_priority)
        self._running: dict[Sequence, Seat] = {}  # in order of admission
        self._batch = Batch(limits.block_size)
        self._partial: Seat | None = None  # the one in the middle of its prompt
        self._longest = LongestSteps()
        self._fresh: list[Seat] = []  # those whose prompt ends in the step in progress
        self._arrived = 0
        self._admitted = 0
        self._begun = 0
        self._stretch: Stretch | None = None
        self._entered = 0  # steps of the stretch that have been accounted for, the last of them as in progress
        self._chunk = 0  # tokens of a prompt that each of its steps computes
        self._end = inf
        self._watched = False  # whether what the first in the queue needs may change while the batch does not

    def submit(self, sequence: Sequence, now: float) -> None:
        """Let a sequence arrive. Calls must come in the order of `now`, and after `advance(now)`.

        Raises ValueError if it could never fit the engine's blocks, changing nothing.
        """
        self.limits.check(sequence)
        self._arrivals.append((now + self._overhead, sequence))
        if self._stretch is not None and len(self._arrivals) == 1:
            self._cut_for_arrival()

    def next_event(self) -> float:
        """When `advance` has something to do; infinity if the engine is idle. Nothing is delivered before."""
        if self._stretch is not None:
            return self._end
        return self._arrivals[0][0] if self._arrivals else inf

    def advance(self, now: float) -> None:
        """Process every event due until `now`; infinity means until the engine is idle."""
        arrivals = self._arrivals
        while True:
            if arrivals and arrivals[0][0] <= now and arrivals[0][0] <= self._end:
                moment = arrivals[0][0]
                self._arrive()
                if self._stretch is None and not (arrivals and arrivals[0][0] <= moment):
                    self._form(moment)
            elif self._stretch is not None and self._end <= now:
                self._complete(self._stretch)
            else:
                return

    def abort(self, sequence: Sequence, now: float) -> bool:
        """End a sequence wherever it is, also before the scheduler has seen it. False if it had ended already."""
        self.advance(now)
        if sequence.status is Status.DONE:
            return False
        self._enter_until(now)
        if sequence.status is Status.RUNNING:
            seat = self._running.pop(sequence)
            if seat.decoding:
                sequence.generated = seat.gain + self._begun - (self._stretch is not None)
                sequence.token_at = now if self._stretch is None else self._stretch.end(self._entered - 1)
                self._enter_gap(seat)
                self._generated += max(0, self._entered - 1)
                self._batch.leave(seat)
            self._free(seat, self._begun)
        elif sequence.order:
            self._waiting.forget()
            if sequence.parked is not None:
                self._swap.drop(sequence.parked)
        sequence.status = Status.DONE
        sequence.finished_at = now
        self._cut(self._entered)
        return True

    def slow_down(self, slowdown: float, now: float) -> None:
        """Steps formed from now on take so many times as long."""
        self.advance(now)
        self._enter_until(now)
        self._cut(self._entered)
        self._slowdown = slowdown

    def load(self, now: float) -> tuple[int, int, float]:
        """Sequences running and waiting, and the share of blocks that live ones hold."""
        self.advance(now)
        self._enter_until(now)
        return len(self._running), len(self._waiting), 1.0 - self.pool.free / self.pool.total

    def totals(self, now: float) -> Totals:
        """Counters since the start; the step in progress counts as a step, and with its whole length."""
        self.advance(now)
        self._enter_until(now)
        stretch = self._stretch
        totals = Totals(
            prompt_tokens=self._prompt_tokens,
            generated_tokens=self._generated,
            prefix_queries=self._prompt_tokens,
            prefix_hits=self._prefix_hits,
            preemptions=self._preemptions,
            evicted_blocks=self.pool.evicted,
            swapped_out_blocks=self._swap.blocks_out,
            swapped_in_blocks=self._swap.blocks_in,
            steps=self._steps_done,
            busy_seconds=self._busy_seconds,
        )
        if stretch is not None:
            totals.steps += self._entered
            totals.busy_seconds += stretch.length(self._entered)
            totals.generated_tokens += (self._entered - 1) * self._batch.count
        return totals

    # Arrivals, and where they end a stretch

    def _arrive(self) -> None:
        moment, sequence = self._arrivals.popleft()
        if sequence.status is not Status.WAITING:
            return
        self._arrived += 1
        sequence.order = self._arrived
        sequence.arrival = moment
        self._waiting.push(sequence)

    def _cut_for_arrival(self) -> None:
        """Let the stretch end where the next arrival can be admitted, unless it will stand behind others."""
        if not self._arrivals or self._stretch is None or len(self._running) >= self._most_running:
            return
        if self._by_priority or not self._waiting:
            self._cut(self._stretch.boundary(self._arrivals[0][0]))

    def _cut(self, steps: int) -> None:
        stretch = self._stretch
        if stretch is not None and steps < stretch.steps:
            stretch.steps = steps
            self._end = stretch.end(steps)

    # Steps

    def _form(self, now: float) -> None:
        """Begin the next stretch, if there is anything to do."""
        if not self._running and not self._waiting:
            return
        self._begun += 1
        batch, partial = self._batch, self._partial
        chunks: list[Chunk] = []
        decodes, context = batch.count, batch.context(self._begun)
        budget = self._budget - decodes
        chunk = 0
        needed = batch.takes(self._begun, 1)
        if partial is not None:
            chunk = min(partial.known - partial.computed, budget)
            needed += self._short(partial, chunk)
        self._watched = False
        squeezed = needed > self.pool.free
        if squeezed:
            decodes, context = self._squeeze(chunks, now)
        else:
            if needed:
                self.pool.take(needed)
            if partial is not None:
                self._grow(partial, chunk, chunks)
            if budget > chunk and self._waiting:
                self._admit(budget - chunk, chunks, now)
        if decodes or chunks:
            self._begin(now, decodes, context, chunks, squeezed)
        else:
            self._begun -= 1

    def _begin(self, now: float, decodes: int, context: int, chunks: list[Chunk], squeezed: bool) -> None:
        """The batch stands: how long its first step takes, and how many like it can follow."""
        prefill, pairs = 0, 0.0
        for tokens, computed in chunks:
            if tokens == 1:
                decodes += 1
                context += computed + 1
            else:
                prefill += tokens
                pairs += tokens * (computed + tokens / 2)
        per_context, per_attention, slowdown = self._per_context_token, self._per_attention_token, self._slowdown
        seconds = self._fixed_seconds(decodes, prefill) + per_context * context + per_attention * pairs
        copying = self._swap.spent()
        steps = 1 if squeezed or copying or self._fresh else self._steps(prefill)
        slope = per_context * decodes + per_attention * prefill * prefill
        self._chunk = prefill
        self._stretch = Stretch(now, seconds * slowdown + copying, slope * slowdown, steps)
        self._entered = 1
        self._end = self._stretch.end(steps)
        if steps > 1:
            self._cut_for_arrival()

    def _steps(self, chunk: int) -> int:
        """For how many steps, with this one, the batch as it stands can go on. Nobody gets a first token in them."""
        partial = self._partial
        if self._watched or (partial is not None and chunk < self._budget - self._batch.count):
            return 1
        end = self._batch.first_end()
        if partial is None:
            assert end is not None
            more = end - self._begun
            return 1 + (self._batch.lasts(self._begun + 1, more, self.pool.free) if more else 0)
        more = (partial.known - partial.computed - 1) // chunk
        if end is not None:
            more = min(more, end - self._begun)
        while more and self._taken(more, chunk) > self.pool.free:
            more -= 1
        return 1 + more

    def _taken(self, steps: int, chunk: int) -> int:
        """Blocks that `steps` further steps take."""
        taken = self._batch.takes(self._begun + 1, steps)
        if self._partial is not None:
            taken += self._short(self._partial, steps * chunk)
        return taken

    def _enter_until(self, now: float) -> None:
        if self._stretch is not None:
            self._enter(self._stretch.ended(now) + 1)

    def _enter(self, steps: int) -> None:
        """Account for what the first `steps` steps of the stretch take, all of them over but the last."""
        new = steps - self._entered
        if new <= 0:
            return
        self.pool.take(self._taken(new, self._chunk))
        self._begun += new
        self._entered = steps
        if self._partial is not None:
            self._grow(self._partial, new * self._chunk, [])

    def _complete(self, stretch: Stretch) -> None:
        """The stretch is over: deliver what its last step brought, and form the next."""
        now, steps, batch = self._end, stretch.steps, self._batch
        if steps > self._entered:
            self._enter(steps)
        self._longest.add(self._begun, stretch.last())
        self._stretch, self._end, self._entered = None, inf, 0
        self._steps_done += steps
        self._busy_seconds += stretch.length(steps)
        self._generated += steps * batch.count
        if self._fresh or batch.first_end() == self._begun:
            result = StepResult(self._first_tokens(now), self._ends(now))
            if result.emitted or result.finished:
                self._deliver(now, result)
        self._form(now)

    def _first_tokens(self, now: float) -> list[Sequence]:
        emitted = []
        for seat in self._fresh:
            sequence = seat.sequence
            if sequence.status is not Status.RUNNING:
                continue
            if sequence.first_token_at is None:
                sequence.first_token_at = now
                sequence.generated = 1
                emitted.append(sequence)
            else:
                sequence.gap_s = max(sequence.gap_s, now - sequence.token_at)
        self._fresh.clear()
        return emitted

    def _ends(self, now: float) -> list[Sequence]:
        finished = []
        for seat in self._batch.through(self._begun):
            sequence = seat.sequence
            del self._running[sequence]
            self._free(seat, self._begun)
            self._enter_gap(seat)
            sequence.generated = sequence.max_tokens
            sequence.status = Status.DONE
            sequence.finished_at = now
            finished.append(sequence)
        return finished

    def _enter_gap(self, seat: Seat) -> None:
        """It got a token at the end of each step after the one it joined in."""
        sequence = seat.sequence
        sequence.gap_s = max(sequence.gap_s, self._longest.after(seat.joined))

    # Sequences

    def _admit(self, budget: int, chunks: list[Chunk], now: float) -> None:
        """Move waiting sequences into the batch while budget, slots and blocks last."""
        size, pool = self._block_size, self.pool
        while budget and len(self._running) < self._most_running:
            sequence = self._waiting.head()
            if sequence is None:
                return
            known = sequence.prompt_tokens + sequence.generated
            hits, free = pool.find(sequence.runs, known // size)
            # The last token is always computed, as its output is the next one: with all of its block.
            cached = min(hits, (known - 1) // size) * size
            if sequence.parked is not None:
                cached = max(cached, sequence.parked.tokens)
            tokens = min(known - cached, budget)
            fresh = -(-(cached + tokens) // size) - hits
            if fresh + free > pool.free:
                self._watched = free > 0 or pool.extendable(sequence.runs, hits)
                return
            self._waiting.pop()
            seat = self._start(sequence, hits, fresh, cached, now)
            self._compute(seat, tokens, chunks)
            budget -= tokens

    def _start(self, sequence: Sequence, hits: int, fresh: int, cached: int, now: float) -> Seat:
        self._admitted += 1
        seat = self._running[sequence] = Seat(sequence, self._admitted)
        self.pool.share(seat, hits, fresh)
        seat.blocks = hits + fresh
        seat.computed = cached
        if sequence.parked is not None:
            self._swap.bring(sequence.parked, hits)
            sequence.parked = None
        sequence.status = Status.RUNNING
        if sequence.scheduled_at is None:
            sequence.scheduled_at = now
            sequence.cached_tokens = cached
            self._prompt_tokens += sequence.prompt_tokens
            self._prefix_hits += cached
        return seat

    def _compute(self, seat: Seat, tokens: int, chunks: list[Chunk]) -> None:
        """Compute some of the seat's prompt, for which the blocks have been taken."""
        chunks.append((tokens, seat.computed))
        seat.computed += tokens
        self.pool.publish(seat, seat.computed // self._block_size)
        if seat.computed < seat.known:
            self._partial = seat
            return
        self._partial = None
        self._batch.join(seat, self._begun)
        self._fresh.append(seat)

    def _grow(self, seat: Seat, tokens: int, chunks: list[Chunk]) -> None:
        """Compute more of the prompt that has been begun."""
        seat.blocks += self._short(seat, tokens)
        self._compute(seat, tokens, chunks)

    def _short(self, seat: Seat, tokens: int) -> int:
        """Blocks that the seat lacks to compute so many more tokens of its prompt."""
        return max(0, -(-(seat.computed + tokens) // self._block_size) - seat.blocks)

    def _free(self, seat: Seat, step: int) -> None:
        """Give back the blocks of a seat that has computed what `step` and all before it computed."""
        size = self._block_size
        if seat is self._partial:
            self._partial = None
            self.pool.release(seat, seat.blocks)
            return
        computed = seat.base + step
        if seat.writing is not None:
            self.pool.publish(seat, computed // size)
        self.pool.release(seat, -(-computed // size))

    def _settle(self, holding: Holding) -> None:
        """Publish what a decoding sequence has computed so far."""
        assert isinstance(holding, Seat)
        if holding.decoding:
            self.pool.publish(holding, (holding.base + self._begun) // self._block_size)

    # A step for which the blocks do not suffice

    def _squeeze(self, chunks: list[Chunk], now: float) -> tuple[int, int]:
        """Form a step one sequence after the other, preempting until its blocks suffice: its decodes and context."""
        batch, partial, step = self._batch, self._partial, self._begun
        served: set[Seat] = set()
        for seat in [*self._running.values()]:
            if not seat.decoding or seat.sequence.status is not Status.RUNNING:
                continue
            needed = int((seat.base + step - 1) % self._block_size == 0)
            if self._make_room(seat, needed, served, now):
                self.pool.take(needed)
                served.add(seat)
        chunk, computes = 0, False
        if partial is not None and partial is self._partial:
            chunk = min(partial.known - partial.computed, self._budget - len(served))
            computes = self._make_room(partial, self._short(partial, chunk), served, now)
        work = batch.count, batch.context(step)
        if partial is not None and computes:
            self.pool.take(self._short(partial, chunk))
            self._grow(partial, chunk, chunks)
        return work

    def _make_room(self, seat: Seat, needed: int, served: set[Seat], now: float) -> bool:
        """Preempt until `needed` blocks are free; false if the seat itself had to go."""
        while needed > self.pool.free:
            victim = self._victim()
            self._preempt(victim, victim in served, now)
            served.discard(victim)
            if victim is seat:
                return False
        return True

    def _victim(self) -> Seat:
        seats = self._running.values()
        if self._by_priority:
            return max(seats, key=lambda seat: (seat.sequence.priority, seat.sequence.order))
        return next(reversed(seats))

    def _preempt(self, seat: Seat, served: bool, now: float) -> None:
        sequence = seat.sequence
        del self._running[sequence]
        computed = seat.base + self._begun - 1 if seat.decoding else seat.computed
        sequence.parked = self._swap.park(computed, self._slowdown)
        if seat.decoding:
            sequence.generated = seat.gain + self._begun - 1
            sequence.token_at = now
            self._enter_gap(seat)
            self._batch.leave(seat)
        self._free(seat, self._begun if served else self._begun - 1)
        sequence.status = Status.WAITING
        self._waiting.push(sequence)
        self._preemptions += 1
